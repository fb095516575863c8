package stack_test

import (
	"io"
	"net"
	"os"
	"os/exec"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestChildrenDieWithAParentThatIsKilled(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer listener.Close()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), helperVariable+"=parent "+listener.Addr().String())
	require.NoError(t, parent.Start())
	grandchild, err := listener.Accept() // it holds this connection while it lives
	require.NoError(t, err)
	defer grandchild.Close()

	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())

	_, err = io.ReadAll(grandchild)
	require.NoError(t, err, "the connection ends when the grandchild does")
}
