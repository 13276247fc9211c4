package main

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/canopy-uav/canopy/diag"
	"github.com/canopy-uav/canopy/expr"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// seconds is a flag for a time above 0 [s], in the notation of docs/expressions.md; +Inf if it is not given.
type seconds float64

func (s *seconds) Set(text string) error {
	t, err := parseSeconds(text)
	*s = seconds(t)
	return err
}

func (s *seconds) String() string {
	if math.IsInf(float64(*s), 1) {
		return ""
	}
	return fmt.Sprintf("%g", float64(*s))
}

func (*seconds) Type() string { return "time" }

func parseSeconds(text string) (float64, error) {
	t, err := expr.Duration(text)
	if err != nil || t <= 0 {
		return 0, fmt.Errorf("%q is not a time above 0: %s", text, expr.TimeForms)
	}
	return t, nil
}

// periods is a flag for a list of times. The first use replaces the default, others add to it.
type periods struct {
	list  []float64
	given bool
}

func (p *periods) Set(text string) error {
	if !p.given {
		p.list, p.given = nil, true
	}
	for part := range strings.SplitSeq(text, ",") {
		t, err := parseSeconds(part)
		if err != nil {
			return err
		}
		p.list = append(p.list, t)
	}
	return nil
}

func (p *periods) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint(p.list), " ", ","), "[]")
}

func (*periods) Type() string { return "times" }

// wrongFlag is the error of a flag that the command does not have or that has a wrong value.
func wrongFlag(cmd *cobra.Command, err error) error {
	text := err.Error()
	var unknown *pflag.NotExistError
	var wrong *pflag.InvalidValueError
	var missing *pflag.ValueRequiredError
	switch {
	case errors.As(err, &missing):
		text = fmt.Sprintf("--%s needs a value", missing.GetFlag().Name)
	case errors.As(err, &wrong):
		why := wrong.Unwrap().Error()
		if errors.As(err, new(*strconv.NumError)) {
			kind := map[string]string{"bool": "neither true nor false", "float64": "not a number",
				"uint8": "not a whole number from 0 to 255", "uint64": "not a whole number, 0 or above"}
			why = fmt.Sprintf("%q is %s", wrong.GetValue(), cmp.Or(kind[wrong.GetFlag().Value.Type()],
				"not a whole number"))
		}
		text = fmt.Sprintf("--%s: %s", wrong.GetFlag().Name, why)
	case errors.As(err, &unknown):
		var names []string
		cmd.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		name := unknown.GetSpecifiedName()
		text = "there is no flag " + map[bool]string{true: "-", false: "--"}[len(name) == 1] + name
		if name := diag.Nearest(name, names); name != "" {
			text += fmt.Sprintf("; did you mean --%s?", name)
		}
	}
	return &usageError{text}
}

// noCommand is the error of a command that does not exist.
func noCommand(root *cobra.Command, name string) error {
	var names []string
	for _, c := range root.Commands() {
		names = append(names, c.Name())
	}
	slices.Sort(names)
	return &usageError{unknownWord("command", name, names)}
}

// unknownWord returns the text of an error: no thing has this name. It suggests a similar name or lists the known ones.
func unknownWord(thing, name string, known []string) string {
	text := fmt.Sprintf("there is no %s %q", thing, name)
	if hint := cmp.Or(diag.DidYouMean(name, known), diag.OneOf("there are ", known)); hint != "" {
		text += "; " + hint
	}
	return text
}

// setFlag is the flag for values of a mission.
func setFlag(c *cobra.Command, set *[]string) {
	c.Flags().StringArrayVar(set, "set", nil,
		"set `name=value`: a parameter of the vehicle, horizon, tolerance or method; may be repeated")
}
