// Package hook makes the Jobs of UpgradeJobHooks: their names, their environment, and what became of them. It is pure.
package hook
