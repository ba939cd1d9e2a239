package defects

import "github.com/oncesim/oncesim/model"

// behind is a service that something stands in front of; what does embeds it.
type behind struct{ model.Service }

// Unwrap is the service itself: faults that strike inside it look for it.
func (b behind) Unwrap() model.Service { return b.Service }

// only puts something in front of one service of the job, or in its place.
func only(which model.ServiceID, front func(behind) model.Service) func(model.ServiceID,
	model.Service) model.Service {
	return func(id model.ServiceID, s model.Service) model.Service {
		if id != which {
			return s
		}
		return front(behind{s})
	}
}

// front stands in front of a service. ask may change a request before it is served, and answer for
// the service: false, the service is not asked. tell may change the answer.
//
//	n    a number that the defect keeps
type front struct {
	behind
	ask  func(f *front, req *model.Message, ans *model.Answer) bool
	tell func(f *front, req *model.Message, ans *model.Answer)
	n    int64
}

// before puts a front before one service of the job.
func before(which model.ServiceID, f front) func(model.ServiceID, model.Service) model.Service {
	return only(which, func(s behind) model.Service {
		own := f
		own.behind = s
		return &own
	})
}

// Reset implements model.Service.
func (f *front) Reset() {
	f.Service.Reset()
	f.n = 0
}

// Serve implements model.Service. The request is the caller's, and stays as it is.
func (f *front) Serve(now int64, req *model.Message, ans *model.Answer) {
	asked := *req
	if f.ask == nil || f.ask(f, &asked, ans) {
		f.Service.Serve(now, &asked, ans)
	}
	if f.tell != nil {
		f.tell(f, req, ans)
	}
}

// State implements model.Service.
func (f *front) State(c *model.Codec) {
	f.Service.State(c)
	c.Int64(&f.n)
}
