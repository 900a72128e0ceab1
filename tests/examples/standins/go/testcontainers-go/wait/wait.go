// Package wait has the strategy that the example uses.
package wait

type HTTPStrategy struct{ Path, Port string }

func ForHTTP(path string) *HTTPStrategy { return &HTTPStrategy{Path: path} }

func (s *HTTPStrategy) WithPort(port string) *HTTPStrategy {
	s.Port = port
	return s
}
