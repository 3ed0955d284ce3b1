package sequence

import (
	"os"

	"pgregory.net/rapid"
)

// tempDir is a folder for one case of a property.
func tempDir(t *rapid.T) string {
	dir, err := os.MkdirTemp("", "sequence-*")
	if err != nil {
		t.Fatalf("make a folder: %v", err)
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(dir); err != nil {
			t.Errorf("remove the folder: %v", err)
		}
	})
	return dir
}
