package egress

import (
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// readRoots returns the roots of the system with the certificates of a PEM file. The file must have at least one
// certificate and nothing else: a key or a broken block is an error, not passed over.
func readRoots(path string) (*x509.CertPool, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		// The key tells which file it is; the path may be long and is not the fault.
		if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
			err = pathErr.Err
		}
		return nil, fmt.Errorf("read certificates: %w", err)
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		roots = x509.NewCertPool() // a system without roots: the file's alone
	}
	for n := 1; ; n++ {
		var block *pem.Block
		block, text = pem.Decode(text)
		if block == nil {
			if n == 1 {
				return nil, errors.New("the file has no certificate in PEM form")
			}
			return roots, nil
		}
		if block.Type != "CERTIFICATE" {
			return nil, fmt.Errorf("block %d of the file is not a certificate", n)
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, fmt.Errorf("certificate %d of the file cannot be parsed", n)
		}
		roots.AddCert(cert)
	}
}
