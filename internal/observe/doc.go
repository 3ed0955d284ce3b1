// Package observe makes every read of a cluster that a decision rests on, and fills the plain values of package snapshot.
// What could not be read is said so: it is never taken for absent.
package observe
