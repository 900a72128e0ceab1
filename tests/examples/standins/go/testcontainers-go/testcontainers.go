// Package testcontainers stands for Testcontainers for Go.
package testcontainers

import (
	"context"
	"fmt"
	"os"

	"github.com/testcontainers/testcontainers-go/wait"
)

type ContainerRequest struct {
	Image        string
	ExposedPorts []string
	WaitingFor   *wait.HTTPStrategy
}

type GenericContainerRequest struct {
	ContainerRequest
	Started bool
}

type TerminateOption func()

type Container struct{ port string }

func GenericContainer(_ context.Context, request GenericContainerRequest) (Container, error) {
	port := request.ExposedPorts[0]
	if !request.Started || *request.WaitingFor != (wait.HTTPStrategy{Path: "/_sandbox/health", Port: port}) {
		return Container{}, fmt.Errorf("it does not wait for the health of port %s", port)
	}
	return Container{port}, nil
}

func (c Container) PortEndpoint(_ context.Context, port string, scheme string) (string, error) {
	if port != c.port {
		return "", fmt.Errorf("port %s is not exposed", port)
	}
	return scheme + "://" + os.Getenv("STANDIN_HOST") + ":" + os.Getenv("STANDIN_PORT"), nil
}

func (c Container) Terminate(_ context.Context, _ ...TerminateOption) error { return nil }
