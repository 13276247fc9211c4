// Package lsp is a language server for plans, missions, vehicles and state graphs. It speaks the Language Server
// Protocol 3.17 over two streams, and judges documents with the readers of the commands.
package lsp

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// Limits of a message [bytes].
const (
	maxHeader = 4 << 10
	maxBody   = 64 << 20
)

// Error codes of JSON-RPC and of the protocol.
const (
	codeParse         = -32700
	codeNoMethod      = -32601
	codeParams        = -32602
	codeUninitialized = -32002
	codeFailed        = -32803
)

// message is a request, a notification or a response.
type message struct {
	Version string           `json:"jsonrpc"`
	ID      *json.RawMessage `json:"id,omitempty"`
	Method  string           `json:"method,omitempty"`
	Params  json.RawMessage  `json:"params,omitempty"`
}

// fault is the error of a response.
type fault struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
}

func (f *fault) Error() string { return f.Message }

// readFrame reads the body of the next message. The error is io.EOF at the end of the stream.
func readFrame(r *bufio.Reader) ([]byte, error) {
	length, header := -1, 0
	for {
		line, err := r.ReadSlice('\n')
		if header += len(line); err != nil || header > maxHeader {
			if errors.Is(err, io.EOF) && header == 0 {
				return nil, io.EOF
			}
			return nil, errors.New("lsp: the header of a message is cut off or too long")
		}
		text := strings.TrimRight(string(line), "\r\n")
		if text == "" {
			break
		}
		name, value, _ := strings.Cut(text, ":")
		if strings.EqualFold(name, "Content-Length") {
			if length, err = strconv.Atoi(strings.TrimSpace(value)); err != nil {
				return nil, fmt.Errorf("lsp: the length of a message is %q", value)
			}
		}
	}
	if length < 0 || length > maxBody {
		return nil, fmt.Errorf("lsp: a message needs a Content-Length of at most %d", maxBody)
	}
	body, err := io.ReadAll(io.LimitReader(r, int64(length)))
	if err == nil && len(body) < length {
		err = io.ErrUnexpectedEOF
	}
	return body, err
}

// writeFrame writes a message.
func writeFrame(w io.Writer, v any) error {
	body, err := json.Marshal(v)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(w, "Content-Length: %d\r\n\r\n%s", len(body), body)
	return err
}
