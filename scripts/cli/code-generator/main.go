// What the hosts of a release do beside running programs: the code that `pulumi import` prints, and packages of a schema. The
// hosts that Go can build are older, and lack it. The module of the CLI builds this; a test puts it on PATH in the place of
// the host that it is named after.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/hashicorp/hcl/v2"
	"github.com/pulumi/pulumi/pkg/v3/codegen/hcl2/syntax"
	"github.com/pulumi/pulumi/pkg/v3/codegen/nodejs"
	"github.com/pulumi/pulumi/pkg/v3/codegen/pcl"
	"github.com/pulumi/pulumi/pkg/v3/codegen/python"
	"github.com/pulumi/pulumi/pkg/v3/codegen/schema"
	"github.com/pulumi/pulumi/sdk/v3/go/common/resource/plugin"
	"github.com/pulumi/pulumi/sdk/v3/go/common/util/rpcutil"
	pulumirpc "github.com/pulumi/pulumi/sdk/v3/proto/go"
	"google.golang.org/grpc"
	"google.golang.org/protobuf/types/known/emptypb"
)

const tool = "the tests"

type files = map[string][]byte

type generator struct {
	pulumirpc.UnimplementedLanguageRuntimeServer
	program func(*pcl.Program) (files, hcl.Diagnostics, error)
	pack    func(*schema.Package, schema.ReferenceLoader) (files, error)
}

var generators = map[string]generator{
	"pulumi-language-nodejs": {
		program: nodejs.GenerateProgram,
		pack: func(of *schema.Package, loader schema.ReferenceLoader) (files, error) {
			return nodejs.GeneratePackage(tool, of, nil, nil, false, loader)
		},
	},
	"pulumi-language-python": {
		program: python.GenerateProgram,
		pack: func(of *schema.Package, loader schema.ReferenceLoader) (files, error) {
			return python.GeneratePackage(tool, of, nil, loader)
		},
	},
}

func (generator) GetPluginInfo(context.Context, *emptypb.Empty) (*pulumirpc.PluginInfo, error) {
	return &pulumirpc.PluginInfo{}, nil
}

func (host generator) GenerateProgram(
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
	source, more, err := host.program(program)
	return &pulumirpc.GenerateProgramResponse{
		Source: source, Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(append(found, more...)),
	}, err
}

func (host generator) GeneratePackage(
	_ context.Context, req *pulumirpc.GeneratePackageRequest,
) (*pulumirpc.GeneratePackageResponse, error) {
	loader, err := schema.NewLoaderClient(req.LoaderTarget)
	if err != nil {
		return nil, err
	}
	defer loader.Close()
	var spec schema.PackageSpec
	if err := json.Unmarshal([]byte(req.Schema), &spec); err != nil {
		return nil, err
	}
	cached := schema.NewCachedLoader(loader)
	bound, found, err := schema.BindSpec(spec, cached, schema.ValidationOptions{})
	if err != nil || found.HasErrors() {
		return &pulumirpc.GeneratePackageResponse{Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(found)}, err
	}
	written, err := host.pack(bound, cached)
	if err != nil {
		return nil, err
	}
	for name, text := range written {
		file := filepath.Join(req.Directory, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			return nil, err
		}
		if err := os.WriteFile(file, text, 0o644); err != nil {
			return nil, err
		}
	}
	return &pulumirpc.GeneratePackageResponse{Diagnostics: plugin.HclDiagnosticsToRPCDiagnostics(found)}, nil
}

func main() {
	host := generators[strings.TrimSuffix(filepath.Base(os.Args[0]), ".exe")]
	handle, err := rpcutil.ServeWithOptions(rpcutil.ServeOptions{Init: func(server *grpc.Server) error {
		pulumirpc.RegisterLanguageRuntimeServer(server, host)
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
