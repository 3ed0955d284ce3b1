// Package suspensionwindow shows in each UpgradeSuspensionWindow whom it holds, and tells when it begins and ends. It holds nobody
// itself: package maintenance asks the windows.
package suspensionwindow
