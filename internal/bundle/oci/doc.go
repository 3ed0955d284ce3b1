// Package oci builds, carries and checks the images of bundles. It is apart from package bundle, which refit-node uses,
// so that refit-node stays small.
package oci
