// What the Node host of a release does beside running programs: the code that `pulumi import` prints. The host that Go can
// build is older, and lacks it. The module of the CLI builds this; a test puts it on PATH in the place of the host.
package main

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/pulumi/pulumi/pkg/v3/codegen/hcl2/syntax"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/pcl"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

type generator struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
}

func (generator) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{}, nil
}

func (generator) GenerateProgram(
	_ context.Context, req *pulumirpc.GenerateProgramRequest,
) (*pulumirpc.GenerateProgramResponse, error) {
	loader, err := schema.NewLoaderClient(req.LoaderTarget)
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	parser := syntax.NewParser()
	for name, text := range req.Source {
		if err := parser.ParseFile(strings.NewReader(text), name); err != nil {
			return nil, err
		}
	}
	options := append(pcl.NonStrictBindOptions(), pcl.Loader(schema.NewCachedLoader(loader)))
	program, found, err := pcl.BindProgram(parser.Files, options...)
	found = append(parser.Diagnostics, found...)
	if err != nil || found.HasErrors() || program == nil {
		return &pulumirpc.GenerateProgramResponse{Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(found)}, err
	}
	files, more, err := nodejs.GenerateProgram(program)
	return &pulumirpc.GenerateProgramResponse{
		Source: files, Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(append(found, more...)),
	}, err
}

func main() {
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{Init: func(server *grpc.Server) error {
		pulumirpc.RegisterLanguageRuntimeServer(server, generator{})
		return nil
	}})
	if err == nil {
		fmt.Println(handle.Port)
		err = <-handle.Done
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
