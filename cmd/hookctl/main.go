// Command hookctl manages hookd.
package main

import (
	"os"

	"hookd/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], cli.SystemStreams()))
}
