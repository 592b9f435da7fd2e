// The program pack writes this module as a zip file that the `go` command reads: pack VERSION FOLDER. It makes the folder a
// proxy, for GOPROXY=file://FOLDER. The same sources give the same bytes.
package main

import (
	"archive/zip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const module = "seamgate.dev/go"

// left are folders that only the repository needs, and modules of their own.
var left = []string{"benchmarks", "tools", "internal/answers", "internal/million", "internal/pack"}

// needed are files without which the module does not work, or may not be passed on.
var needed = []string{
	"go.mod", "seamgate.wasm", "README.md", "LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY-NOTICES.txt", "seamgate.cdx.json",
}

func main() {
	log.SetFlags(0)
	if len(os.Args) != 3 {
		log.Fatal("usage: pack VERSION FOLDER")
	}
	if err := pack("v"+os.Args[1], os.Args[2]); err != nil {
		log.Fatalf("pack: %v", err)
	}
}

func pack(version, folder string) error {
	names, err := files()
	if err != nil {
		return err
	}
	versions := filepath.Join(folder, filepath.FromSlash(module), "@v")
	if err := os.MkdirAll(versions, 0o755); err != nil {
		return err
	}
	info, err := json.Marshal(map[string]string{"Version": version})
	if err != nil {
		return err
	}
	mod, err := os.ReadFile("go.mod")
	if err != nil {
		return err
	}
	for name, text := range map[string][]byte{"list": []byte(version + "\n"), version + ".info": info, version + ".mod": mod} {
		if err := os.WriteFile(filepath.Join(versions, name), text, 0o644); err != nil {
			return err
		}
	}
	to, err := os.Create(filepath.Join(versions, version+".zip"))
	if err != nil {
		return err
	}
	archive := zip.NewWriter(to)
	for _, name := range names {
		if err := add(archive, path.Join(module+"@"+version, name), name); err != nil {
			return errors.Join(err, to.Close())
		}
	}
	return errors.Join(archive.Close(), to.Close())
}

// files returns the files of the module, in ascending order.
func files() ([]string, error) {
	var names []string
	err := filepath.WalkDir(".", func(name string, entry fs.DirEntry, err error) error {
		name = filepath.ToSlash(name)
		if err != nil || name == "." {
			return err
		}
		if entry.IsDir() && (slices.Contains(left, name) || strings.HasPrefix(entry.Name(), ".")) {
			return fs.SkipDir
		}
		if entry.Type().IsRegular() && entry.Name() != ".gitignore" {
			names = append(names, name)
		}
		return nil
	})
	for _, name := range needed {
		if !slices.Contains(names, name) {
			err = errors.Join(err, fmt.Errorf("%s is missing: run `cargo xtask go`", name))
		}
	}
	slices.Sort(names)
	return names, err
}

func add(archive *zip.Writer, name, path string) error {
	from, err := os.Open(path)
	if err != nil {
		return err
	}
	defer func() { _ = from.Close() }()
	// Without a time, so that the bytes are the same each time.
	to, err := archive.CreateHeader(&zip.FileHeader{Name: name, Method: zip.Deflate})
	if err != nil {
		return err
	}
	_, err = io.Copy(to, from)
	return err
}
