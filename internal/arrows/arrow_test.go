package arrows_test

import (
	"fmt"
	"slices"
	"strings"
)

// arrow is an import that must not be. Packages are written in full; one that ends in /... means itself and all below it.
type arrow struct {
	from   []string // these packages,
	except []string // but not these,
	tests  bool     // and their tests too,
	never  []string // import none of these,
	but    []string // except these,
	reason string   // because
}

// violations lists the imports of the files that the arrows forbid, each with its reason.
func violations(files []file, arrows []arrow) []string {
	var found []string
	for _, arrow := range arrows {
		for _, file := range files {
			if !arrow.holdsFor(file) {
				continue
			}
			for _, imported := range file.imports {
				if matches(arrow.never, imported) && !matches(arrow.but, imported) && imported != file.pkg {
					found = append(found, fmt.Sprintf("%s imports %s: %s", file.path, imported, arrow.reason))
				}
			}
		}
	}
	return found
}

// holdsFor tells whether the arrow is about a file. The root folder holds no package of the product.
func (a arrow) holdsFor(f file) bool {
	return f.product && f.pkg != module && (a.tests || !f.test) && matches(a.from, f.pkg) && !matches(a.except, f.pkg)
}

// matches tells whether a package is one of those that the patterns mean.
func matches(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool {
		above, tree := strings.CutSuffix(pattern, "/...")
		return pkg == above || tree && strings.HasPrefix(pkg, above+"/")
	})
}
