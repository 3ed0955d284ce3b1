package snapshot

// Health is what a health check of an UpgradeJob looks at, beyond the cluster itself.
type Health struct {
	// Alerts that fire with severity=critical. Empty where nobody asked for them.
	Alerts []Alert
	// AlertsProblem is why they could not be asked for.
	AlertsProblem string
	// Operators are OpenShift's cluster operators.
	Operators []Operator
	// OperatorsProblem is why they could not be read.
	OperatorsProblem string
	// NoOperators says that the cluster has none: it is not OpenShift.
	NoOperators bool
	// Queries are the answers to custom queries, in their order.
	Queries []Answer
}

// Alert is one that fires.
type Alert struct {
	Name string
	// Namespace is the label of that name, empty where the alert has none.
	Namespace string
}

// Operator is a cluster operator of OpenShift.
type Operator struct {
	Name string
	// Degraded and Unavailable are why it is, empty where it is not.
	Degraded, Unavailable string
}

// Answer is what Prometheus said to a query.
type Answer struct {
	Query string
	// Results are the series that came back, in words; at most a few.
	Results []string
	// Total is how many there were.
	Total int
	// Problem is why there is no answer.
	Problem string
}
