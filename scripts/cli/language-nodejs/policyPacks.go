package main

import (
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
)

// The newest language host that Go can build refuses plugins. Set-up compiles this file into it, so that it runs policy
// packs of `runtime: nodejs` as the host of a Pulumi release does.

// Fields of the request that the protocol of this host does not know yet, and of the message in `info`.
const (
	infoField      = 5
	kindField      = 6
	directoryField = 2
)

const policyPackRunner = `require.resolve("@pulumi/pulumi/cmd/run-policy-pack")`

// RunPlugin runs a policy pack in its own folder, with the SDK that is installed there.
func (host *nodeLanguageHost) RunPlugin(
	req *pulumirpc.RunPluginRequest, server pulumirpc.LanguageRuntime_RunPluginServer,
) error {
	unknown := req.ProtoReflect().GetUnknown()
	if kind := string(fieldOf(unknown, kindField)); kind != "analyzer" {
		return fmt.Errorf("this language host runs policy packs, not plugins of kind %q", kind)
	}
	pack := string(fieldOf(fieldOf(unknown, infoField), directoryField))
	if pack == "" {
		return errors.New("the engine names no folder of the policy pack")
	}
	find := exec.CommandContext(server.Context(), "node", "-p", policyPackRunner)
	find.Dir, find.Env = pack, req.Env
	runner, err := find.Output()
	if err != nil {
		return fmt.Errorf("@pulumi/pulumi is not installed in %s: run npm install there", pack)
	}
	args := append([]string{strings.TrimSpace(string(runner))}, req.Args...)
	command := exec.CommandContext(server.Context(), "node", append(args, pack)...)
	command.Dir, command.Env = pack, req.Env
	command.Stdout, command.Stderr = outputsTo(server)
	return command.Run()
}

// fieldOf returns the bytes of a field of an encoded message, or nothing.
func fieldOf(message []byte, wanted protowire.Number) []byte {
	for len(message) > 0 {
		number, kind, size := protowire.ConsumeTag(message)
		if size < 0 {
			return nil
		}
		message = message[size:]
		if number == wanted && kind == protowire.BytesType {
			value, _ := protowire.ConsumeBytes(message)
			return value
		}
		if size = protowire.ConsumeFieldValue(number, kind, message); size < 0 {
			return nil
		}
		message = message[size:]
	}
	return nil
}

type sender func(text []byte) error

func (send sender) Write(text []byte) (int, error) {
	if err := send(text); err != nil {
		return 0, err
	}
	return len(text), nil
}

// outputsTo returns what a process writes to. A stream takes one message at a time.
func outputsTo(server pulumirpc.LanguageRuntime_RunPluginServer) (stdout io.Writer, stderr io.Writer) {
	var lock sync.Mutex
	send := func(response *pulumirpc.RunPluginResponse) error {
		lock.Lock()
		defer lock.Unlock()
		return server.Send(response)
	}
	return sender(func(text []byte) error {
			return send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stdout{Stdout: text}})
		}), sender(func(text []byte) error {
			return send(&pulumirpc.RunPluginResponse{Output: &pulumirpc.RunPluginResponse_Stderr{Stderr: text}})
		})
}
