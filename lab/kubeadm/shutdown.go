package kubeadm

import (
	"fmt"
	"time"
)

// ShutdownDelay is how long an API server that is told to stop goes on serving while its /readyz already fails.
// The load balancer asks every half second and needs one failure, plus up to 3 s where the machine is so busy that
// the answer does not come: 5 s leaves it time in the worst case.
const ShutdownDelay = 5 * time.Second

// ShutdownArgs make the removal of one of several API servers invisible through the load balancer.
//
// shutdown-send-retry-after stays off: with it a stopping API server keeps its door open after the delay and answers
// 429 to whoever still comes, which a client without retries counts as a failure. Without it, it closes the door,
// tells the HTTP/2 clients that it has (GOAWAY) to take their next request elsewhere, and finishes what it is doing.
//
// A lone API server gets no delay: there is nowhere else to go, and the new one would only start later.
func ShutdownArgs(controlPlanes int) []Argument {
	if controlPlanes < 2 {
		return nil
	}
	return []Argument{{Name: "shutdown-delay-duration", Value: fmt.Sprint(ShutdownDelay)}}
}
