package rollout

import (
	"fmt"
	"slices"

	"refit.dev/refit/internal/snapshot"
)

// room is how many workers may still be taken out of service, over all groups.
type room struct {
	j *journey
	// most may be out at once in all; out are those that are, in all.
	most int
	out  []string
	// isOut says of each worker whether it is.
	isOut map[string]bool
}

func (j *journey) newRoom() *room {
	r := &room{j: j, most: mostUnavailable(j.Cluster, j.plan), isOut: map[string]bool{}}
	for i := range j.workers.nodes {
		if s := &j.workers.nodes[i]; s.out(j.claims) {
			r.out, r.isOut[s.node.Name] = append(r.out, s.node.Name), true
		}
	}
	return r
}

// places is what is left for one group.
type places struct {
	*room
	group *group
	// most and out are of the group alone, fly and flying of its nodes in flight.
	most, fly, flying int
	out               []string
	// share is how many of one topology domain may be out, taken those that are.
	share  int
	taken  map[string]int
	domain func(*snapshot.Node) string
}

func (r *room) places(g *group) *places {
	p := &places{room: r, group: g, taken: map[string]int{}}
	p.most, p.fly = r.j.most(g)
	p.share, p.domain = g.share(p.most)
	for _, s := range g.nodes {
		if r.isOut[s.node.Name] {
			p.out = append(p.out, s.node.Name)
			p.taken[p.domain(s.node)]++
		}
		if s.state == NodeInFlight {
			p.flying++
		}
	}
	return p
}

// fill begins nodes of a group until a limit is reached.
func (r *room) fill(g *group, ready []*standing) []Action {
	if len(ready) == 0 {
		return nil
	}
	p := r.places(g)
	slices.SortStableFunc(ready, func(a, b *standing) int { return cost(a, r.isOut) - cost(b, r.isOut) })
	var actions []Action
	for _, s := range ready {
		c := cost(s, r.isOut)
		if why := p.closed(s, c); why != "" {
			r.j.workers.say(s, "%s", why)
			continue
		}
		p.flying++
		if c > 0 {
			p.out, r.out = append(p.out, s.node.Name), append(r.out, s.node.Name)
			p.taken[p.domain(s.node)]++
		}
		r.j.workers.drain[s.node.Name] = g.spec.Drain
		actions = append(actions, r.j.workers.begin(s, false, p.why()))
	}
	return actions
}

func (p *places) why() string {
	if len(p.j.plan.Groups) == 0 {
		return fmt.Sprintf("%d of %d workers that may be out of service are", len(p.room.out), p.room.most)
	}
	return fmt.Sprintf("%s: %d of %d that may be out of service are", p.group.title(), len(p.out), p.most)
}

// closed says why a node may not be begun; empty where it may. Beyond the limits, something broke by itself: then only what would come
// back by it may be begun.
func (p *places) closed(s *standing, cost int) string {
	if cost < 0 {
		return ""
	}
	add := max(cost, 0)
	in := p.domain(s.node)
	switch {
	case len(p.room.out)+add > p.room.most:
		return full(p.room.out, p.room.most)
	case len(p.out)+add > p.most:
		return "of " + p.group.title() + " " + full(p.out, p.most)
	case p.flying >= p.fly:
		return fmt.Sprintf("of %s %d are in flight, and the plan allows no more", p.group.title(), p.flying)
	case cost > 0 && p.taken[in] >= p.share:
		return fmt.Sprintf("%s %s has its share out of service, %d", p.group.spec.SpreadTopologyKey, in, p.taken[in])
	}
	return ""
}
