package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/document/mission"
	"github.com/canopy-uav/canopy/document/plan"
	"github.com/canopy-uav/canopy/editor/studio"
	"github.com/canopy-uav/canopy/run/folder"
	"github.com/canopy-uav/canopy/vehicle/fmu/host"

	"github.com/spf13/cobra"
)

func studioCommand() *cobra.Command {
	var out, listen string
	c := &cobra.Command{
		Use: "studio [MISSION|RUN]",
		RunE: func(cmd *cobra.Command, args []string) error {
			o := studio.Options{Folder: out, Guard: &unfinished, Limit: usualLog << 20}
			if len(args) == 1 {
				if err := about(&o, args[0], cmd.Flags().Changed("out")); err != nil {
					return err
				}
			}
			return serveStudio(cmd, o, listen)
		},
	}
	c.Flags().StringVar(&out, "out", "out", "`folder` of the folders of runs")
	c.Flags().StringVar(&listen, "listen", "127.0.0.1:0", "`HOST:PORT` of this computer; port 0 is any that is free")
	return c
}

// about completes the options by what the studio is to show: a mission or the folder of a run.
func about(o *studio.Options, name string, placed bool) error {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		if _, err := os.Stat(filepath.Join(name, folder.LogFile)); err != nil {
			return noRun(err)
		}
		if placed {
			return &usageError{"--out is the folder for runs of a mission; a run that is given has its own"}
		}
		path, err := filepath.Abs(name)
		o.Folder, o.First = filepath.Dir(path), filepath.Base(path)
		return err
	}
	if name == standardInput {
		return &usageError{"the mission of a studio is a file, which may change"}
	}
	switch k, err := kindOf(name); {
	case err != nil:
		return err
	case k != missionKind:
		return fmt.Errorf("%s is not a mission; `canopy new` writes one", name)
	}
	o.Mission = name
	o.Check = func() (func(context.Context) studio.Proof, error) {
		documents = map[string][]byte{}
		_, m, err := readPlan(name, io.Discard, plan.CodeWriteConflict)
		if err != nil {
			return nil, err
		}
		s, err := provable(m)
		return func(ctx context.Context) studio.Proof {
			const budget = 60 // s, as of canopy check
			found := ask(ctx, s, budget, newProgress(io.Discard, 1))
			return studio.Proof{Mission: m, Found: found, Findings: asObjects(s, found, nil)}
		}, err
	}
	o.Read = func(set []string, instead map[string]string) (*mission.Mission, []string, diag.List, error) {
		documents = map[string][]byte{} // they may have changed
		for name, text := range instead {
			documents[name] = []byte(text)
		}
		m, found, err := missionOf(name, set)
		if m != nil {
			m = m.Hosted(host.New().Start)
		}
		return m, slices.Collect(maps.Keys(documents)), found, err
	}
	return nil
}

// serveStudio serves a studio until it is interrupted.
func serveStudio(cmd *cobra.Command, o studio.Options, at string) error {
	l, err := listenHere(at)
	if err != nil {
		return err
	}
	ctx, stop := interruptible(cmd.Context())
	defer stop()
	s := studio.New(o)
	served := make(chan error, 1)
	go func() {
		served <- s.Serve(l, func(address string) {
			fmt.Fprintf(cmd.OutOrStdout(), "studio: %s\n", address)
			fmt.Fprintln(cmd.ErrOrStderr(), "canopy: open this address in a browser on this computer; Ctrl-C ends the studio")
		})
	}()
	select {
	case err = <-served:
	case <-ctx.Done():
		err = errors.Join(l.Close(), <-served)
	}
	s.Close()
	return failed(err)
}
