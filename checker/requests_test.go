package checker

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/oncesim/oncesim/model"
)

// A requestStory is a history of requests of any kind between semicolons. Times are event numbers,
// and virtual nanoseconds too:
//
//	begin-txn token=7 told=1 10-12   a request by its kind, with fields of it, and from when until
//	                                 when; told is the number in the answer
//	write rec=x told=0 10-12         of the record that a letter stands for; capitals go to
//	                                 partition 1
//	write-batch parts=xy told=0 10-  a batch; its caller does not know if it took effect
//	see x 0 10, final xy 0 10        a reader sees that from a place on
//	cut                              the run does not come to its end
//
// "+before", "+stale" and "+refused" are other outcomes, "+copy" says that the service served a
// second copy, and "+fenced", "+whole", "+state" and "+versioned" are flags.
func requestStory(t testing.TB, shape, story string) Subject {
	h := &model.History{End: model.End{Reason: model.Quiescent, N: 1000, At: 1000}}
	for _, clause := range strings.Split(story, ";") {
		words := strings.Fields(clause)
		switch {
		case len(words) == 0:
		case words[0] == "cut":
			h.End.Reason = model.EventBound
		case words[0] == "see" || words[0] == "final":
			linearClause(t, h, words)
		default:
			request(t, h, words)
		}
	}
	return Subject{History: h, Shape: requestShapes[shape]}
}

var requestShapes = map[string]model.SinkShape{"log": model.Log, "keys": model.Keys,
	"rows": model.Rows}

var requestFlags = map[string]model.Flags{"+fenced": model.Fenced, "+whole": model.Whole,
	"+state": model.WithState, "+versioned": model.Versioned}

var requestOutcomes = map[string]model.Outcome{"+before": model.DoneBefore, "+stale": model.Stale,
	"+refused": model.Refused}

func request(t testing.TB, h *model.History, words []string) {
	kind, ok := model.ParseKind(words[0])
	require.True(t, ok, words)
	c := model.Call{Service: kind.Service(), Outcome: model.Unknown,
		Req: model.Message{Kind: kind, Record: model.Record{Op: 1}}}
	isCopied := false
	for _, word := range words[1:] {
		name, value, isField := strings.Cut(word, "=")
		from, until, isTime := strings.Cut(word, "-")
		switch {
		case isField:
			requestField(t, &c, name, value)
		case word == "+copy":
			isCopied = true
		case requestFlags[word] != 0:
			c.Req.Flags |= requestFlags[word]
		case requestOutcomes[word] != 0:
			c.Outcome = requestOutcomes[word] // it comes behind the time
		default:
			require.True(t, isTime, word)
			if c.Invoked = linearNumber(t, from); until != "" {
				c.Outcome, c.Answered = model.Done, linearNumber(t, until)
				require.GreaterOrEqual(t, c.Answered, c.Invoked, word)
			}
		}
	}
	if c.Answered != 0 || isCopied {
		s := model.Serving{N: c.Invoked, At: c.Invoked, Call: int32(len(h.Calls)),
			Ans: model.Answer{Outcome: max(c.Outcome, model.Done), Seq: c.Ans.Seq}}
		h.Servings = append(h.Servings, s)
		if s.Copy = isCopied; isCopied {
			s.Ans.Outcome = model.Done
			h.Servings = append(h.Servings, s)
		}
	}
	h.Calls = append(h.Calls, c)
}

func requestField(t testing.TB, c *model.Call, name, value string) {
	req := &c.Req
	switch name {
	case "rec":
		req.Record, req.Seq = linearRecord(value[0])
	case "parts":
		req.Parts = linearRecords(value)
		_, req.Seq = linearRecord(value[0])
	case "read":
		c.Ans.Records = linearRecords(value)
	case "key":
		req.Record.Key = value
	case "value":
		req.Record.Value.Num = linearNumber(t, value)
	case "found":
		c.Ans.Found, c.Ans.Value.Num = true, linearNumber(t, value)
	case "part":
		req.Record.ID.Part = int32(linearNumber(t, value))
	case "token":
		req.Token = linearNumber(t, value)
	case "n":
		req.N = linearNumber(t, value)
	case "seq":
		req.Seq = linearNumber(t, value)
	case "cursor":
		req.Cursor = linearNumber(t, value)
	case "channel":
		req.Channel = int16(linearNumber(t, value))
	case "attempt":
		req.Attempt = int32(linearNumber(t, value))
	case "told":
		c.Ans.Seq = linearNumber(t, value)
	default:
		require.Fail(t, "unknown field "+name)
	}
}

// TestRequests_Golden holds all that Linearizable says of request stories to a file.
func TestRequests_Golden(t *testing.T) {
	var out strings.Builder
	for _, c := range requestStories {
		fmt.Fprintf(&out, "%s: %s\n", c.shape, c.story)
		tellServices(&out, requestStory(t, c.shape, c.story))
	}
	golden(t, "requests.golden", out.String())
}

// tellServices writes in full what is said of services that are not linearizable.
func tellServices(out *strings.Builder, s Subject) {
	for i, v := range Linearizable(s, 0) {
		if v.Result == model.Holds && v.Reason == "" {
			continue
		}
		fmt.Fprintf(out, "\t\t%s: %s: %s\n", model.ServiceNames[i], v.Result, v.Reason)
		for _, a := range v.Anomalies {
			r := a.Record
			fmt.Fprintf(out, "\t\t\t%s %d:%d op %d %s=%s; observed %s; at", a.Kind, r.ID.Part,
				r.ID.Offset, r.Op, r.Key, r.Value, a.Observed)
			for _, n := range a.Events {
				if n != 0 {
					fmt.Fprintf(out, " %d", n)
				}
			}
			fmt.Fprintln(out)
		}
	}
}

// requestStories are short, and mostly odd: each has something that a judge could overlook.
var requestStories = []struct{ shape, story string }{
	// transactions
	{"log", "begin-txn token=7 told=1 1-2; commit-txn token=7 n=1 3-4; " +
		"abort-txn token=7 n=1 5-6"},
	{"log", "begin-txn token=7 n=1 told=2 1-2; " +
		"begin-txn token=7 n=1 told=2 cursor=11 4-7 +before; begin-txn token=8 n=1 told=0 9-; " +
		"write rec=x token=7 n=0 told=0 seq=1 channel=1 16-16"},
	{"log", "commit-txn +whole seq=0 channel=1 2-4 +stale; " +
		"commit-txn token=8 n=2 channel=1 3-3; begin-txn token=7 n=0 told=2 7-7; " +
		"begin-txn token=7 told=0 channel=1 11-; " +
		"commit-txn token=7 n=1 channel=1 14-15 +before; commit-txn token=7 n=2 17-20"},
	{"log", "begin-txn token=7 told=1 1-4 +copy; commit-txn token=7 n=0 1-2 +refused"},
	{"log", "begin-txn token=7 n=1 told=3 1-; begin-txn token=7 n=1 told=0 7-8 +stale"},
	{"log", "write rec=x token=7 n=1 told=1 seq=1 5-8; begin-txn token=8 told=1 11-13"},
	{"log", "abort-txn token=7 n=0 1-5; write rec=x token=7 n=0 told=0 seq=1 8-12; " +
		"write rec=x token=7 n=1 told=0 10-11"},
	{"log", "begin-txn token=7 told=1 1-3; prepare-txn token=7 n=2 11-15"},
	{"log", "begin-txn token=7 told=1 cursor=10 1-2; commit-txn token=7 n=1 5-7 +stale; " +
		"commit-txn token=7 n=1 11-14"},
	{"log", "begin-txn token=7 told=1 cursor=999 1-2; commit-txn token=7 n=1 50-51 +stale"},
	// the completed checkpoint
	{"log", "newest told=2 1-1; completion seq=1 cursor=0 4-5 +before"},
	{"log", "completion seq=1 cursor=1 told=3 1-2 +stale"},
	{"log", "newest told=2 n=1 1-6"},
	{"log", "completion seq=3 cursor=0 told=3 1-4 +refused"},
	// fences
	{"log", "final x 0 5-; write-batch +fenced attempt=2 parts=xy 5-8 +before; " +
		"write-batch parts=x told=0 12-14; cut"},
	{"log", "list-txns +fenced attempt=2 token=0 1-3; " +
		"write-batch +fenced attempt=1 parts=xy 7-12; " +
		"begin-txn +fenced attempt=2 seq=0 channel=0 13-13"},
	{"log", "download +fenced attempt=3 1-4; begin-txn +fenced attempt=2 token=1 4-5; " +
		"load-ids +fenced attempt=2 13-17; list-txns +fenced attempt=1 channel=1 +whole 15-19"},
	{"log", "begin-txn +fenced attempt=2 14-16 +stale"},
	{"log", "checkpoint-id +fenced attempt=3 token=1 3-6; " +
		"plan-batch +fenced attempt=1 +whole 6-6; " +
		"newest +fenced attempt=1 token=0 channel=0 9-14"},
	{"log", "begin-txn +fenced attempt=2 token=0 seq=1 1-4 +stale; " +
		"write +fenced attempt=0 channel=1 15-17 +copy"},
	// batches and logs
	{"log", "write-batch parts=xx told=1 1-3; write-batch parts=XY told=1 2- +copy; " +
		"write rec=X told=3 6-11 +before"},
	{"log", "write-batch parts=xy told=1 1-6 +copy; read cursor=3 read=x 1-1; cut"},
	{"log", "final z 3 8-; write-batch parts=yz told=0 3-4; " +
		"write-batch parts=yz told=4 5-5 +before"},
	{"log", "write rec=v told=2 2-3; read cursor=3 read=z 1-; " +
		"write-batch parts=xx told=2 8-8; write rec=X told=0 8-12"},
	{"log", "write rec=y told=0 2-4; final y 2 10-"},
	{"log", "write rec=X told=0 1-2; write rec=v told=3 4-4; cut"},
	{"log", "write-batch parts=xx told=3 1-6; read cursor=1 read= 1-2"},
	{"log", "write-batch parts=XY told=0 1-3; write rec=X told=0 1-1 +before"},
	{"log", "write rec=x told=0 1-2; write rec=Y told=0 3-4; final x 0 20-; final Y 0 21-; " +
		"final x 0 22-"},
	{"log", "write rec=x told=0 1001-1002; newest 1005-1006"},
	{"log", "read cursor=0 read=x 1-2 +stale"},
	{"log", "write rec=x value=1 5-; write rec=x value=2 1-; write rec=x told=0 2-4 +before; " +
		"write rec=x told=1 6-9 +before; cut"},
	// rows
	{"keys", "write rec=X 1-4; cut"},
	{"rows", "see xy 0 5-; write rec=x 5-6"},
	{"keys", "see xy 0 6-; write rec=x +versioned token=1 3-7"},
	{"keys", "write rec=y 1-3 +copy; write rec=x 1-1; see xy 3 12-; final xy 0 16-"},
}
