package interlingua_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"

	interlingua "github.com/interlingua/interlingua/clients/go"
	pb "github.com/interlingua/interlingua/clients/go/interlinguav1"
)

// The servers are started by clients/run.py: one that replays, and one with TLS and a token whose provider always asks
// to wait.
func serving(t *testing.T) *interlingua.Client {
	t.Helper()
	return dial(t, setting(t, "INTERLINGUA_SERVER"))
}

func guarded(t *testing.T, token string, certificate bool) *interlingua.Client {
	t.Helper()
	folder := setting(t, "INTERLINGUA_GUARDED_FILES")
	roots := x509.NewCertPool()
	authority, err := os.ReadFile(filepath.Join(folder, "authority.pem"))
	must(t, err)
	roots.AppendCertsFromPEM(authority)
	config := &tls.Config{RootCAs: roots}
	if certificate {
		mine, err := tls.LoadX509KeyPair(filepath.Join(folder, "client.pem"), filepath.Join(folder, "client.key"))
		must(t, err)
		config.Certificates = []tls.Certificate{mine}
	}
	return dial(t, setting(t, "INTERLINGUA_GUARDED"), interlingua.WithTLS(config), interlingua.WithToken(token))
}

func dial(t *testing.T, address string, options ...interlingua.Option) *interlingua.Client {
	t.Helper()
	client, err := interlingua.Dial(address, options...)
	must(t, err)
	t.Cleanup(func() { client.Close() })
	return client
}

func setting(t *testing.T, name string) string {
	t.Helper()
	value := os.Getenv(name)
	if value == "" {
		t.Skipf("%s is not set; clients/run.py starts the server", name)
	}
	return value
}

func soon(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	t.Cleanup(cancel)
	return ctx
}

// playing is a client of a server that plays the service.
func playing(t *testing.T, service pb.InterlinguaServiceServer) *interlingua.Client {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	server := grpc.NewServer()
	pb.RegisterInterlinguaServiceServer(server, service)
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	return dial(t, listener.Addr().String())
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func asking(model, words string) *pb.Request {
	return &pb.Request{Model: &model, Messages: []*pb.Message{interlingua.Text(pb.Role_ROLE_USER, words)}}
}

func failing(t *testing.T, err error) *interlingua.Error {
	t.Helper()
	var problem *interlingua.Error
	if !errors.As(err, &problem) {
		t.Fatalf("no *Error: %v", err)
	}
	return problem
}

func TestTLSAndToken(t *testing.T) {
	models, err := guarded(t, setting(t, "INTERLINGUA_TOKEN"), true).ListModels(soon(t), &pb.ListModelsRequest{})
	must(t, err)
	if len(models.GetModels()) == 0 {
		t.Error("no models")
	}
}

func TestWithoutTheToken(t *testing.T) {
	_, err := guarded(t, "another", true).ListModels(soon(t), &pb.ListModelsRequest{})
	if got := interlingua.CategoryOf(err); got != pb.ErrorCategory_ERROR_CATEGORY_AUTHENTICATION {
		t.Errorf("category %s of a status without details", got)
	}
}

func TestWithoutTheCertificate(t *testing.T) {
	_, err := guarded(t, setting(t, "INTERLINGUA_TOKEN"), false).ListModels(soon(t), &pb.ListModelsRequest{})
	if got := interlingua.CategoryOf(err); got != pb.ErrorCategory_ERROR_CATEGORY_NETWORK {
		t.Errorf("category %s of a connection that is refused", got)
	}
}

func TestTLSToAServerWithoutIt(t *testing.T) {
	client := dial(t, setting(t, "INTERLINGUA_SERVER"), interlingua.WithTLS(&tls.Config{}))
	_, err := client.ListModels(soon(t), &pb.ListModelsRequest{})
	if problem := failing(t, err); problem.Category != pb.ErrorCategory_ERROR_CATEGORY_NETWORK || problem.Retryable {
		t.Errorf("category %s, retryable %t", problem.Category, problem.Retryable)
	}
}

func TestACertificateThatIsNotTrusted(t *testing.T) {
	client := dial(t, setting(t, "INTERLINGUA_GUARDED"), interlingua.WithTLS(&tls.Config{}))
	_, err := client.ListModels(soon(t), &pb.ListModelsRequest{})
	if problem := failing(t, err); problem.Category != pb.ErrorCategory_ERROR_CATEGORY_NETWORK || problem.Retryable {
		t.Errorf("category %s, retryable %t", problem.Category, problem.Retryable)
	}
}

func TestAServerThatIsNotThere(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	listener.Close()
	_, err = dial(t, listener.Addr().String()).ListModels(soon(t), &pb.ListModelsRequest{})
	if problem := failing(t, err); problem.Category != pb.ErrorCategory_ERROR_CATEGORY_NETWORK || !problem.Retryable {
		t.Errorf("category %s, retryable %t", problem.Category, problem.Retryable)
	}
}

func TestRateLimit(t *testing.T) {
	client := guarded(t, setting(t, "INTERLINGUA_TOKEN"), true)
	conversation := &pb.GenerateRequest_Request{Request: asking("anthropic:claude-sonnet-4-6", "Hello.")}
	_, err := client.Generate(soon(t), &pb.GenerateRequest{Conversation: conversation})
	problem := failing(t, err)
	if problem.Category != pb.ErrorCategory_ERROR_CATEGORY_RATE_LIMIT || !problem.Retryable || problem.RetryAfter != 7*time.Second {
		t.Errorf("category %s, retryable %t, after %s", problem.Category, problem.Retryable, problem.RetryAfter)
	}
	if said := problem.Canonical.GetProviderMessage(); said != "not so fast with the pumps" || strings.Contains(err.Error(), said) {
		t.Errorf("the provider said %q, the error prints %q", said, err)
	}
	if status.Code(err) != codes.ResourceExhausted {
		t.Errorf("status %s", status.Code(err))
	}
}

func TestInvalidRequest(t *testing.T) {
	request := asking("openai:gpt-4.1", "Hello.")
	request.Messages[0].Role = pb.Role_ROLE_UNSPECIFIED
	_, err := serving(t).Adapt(soon(t), &pb.AdaptRequest{Input: &pb.AdaptRequest_Request{Request: request}})
	if problem := failing(t, err); problem.Category != pb.ErrorCategory_ERROR_CATEGORY_INVALID_REQUEST || problem.Path != "/messages/0/role" {
		t.Errorf("category %s at %s", problem.Category, problem.Path)
	}
	if !strings.HasSuffix(err.Error(), "(at /messages/0/role)") {
		t.Errorf("the place is missing in %q", err)
	}
}

func TestRefusedLoss(t *testing.T) {
	request := asking("openai:gpt-4.1", "Hello.")
	request.TopK = proto.Float64(5)
	_, err := serving(t).Adapt(soon(t), &pb.AdaptRequest{
		Input:      &pb.AdaptRequest_Request{Request: request},
		Target:     &pb.Side{Adapter: "openai_chat"},
		LossPolicy: &pb.LossPolicy{Strict: pb.LossSeverity_LOSS_SEVERITY_WEAKENED},
	})
	problem := failing(t, err)
	if problem.Category != pb.ErrorCategory_ERROR_CATEGORY_LOSS_REFUSED || problem.LossEntries != 1 || problem.Loss[0].GetPath() != "/top_k" {
		t.Errorf("category %s, %d entries: %v", problem.Category, problem.LossEntries, problem.Loss)
	}
}

func TestDeadline(t *testing.T) {
	ctx, cancel := context.WithTimeout(context.Background(), time.Nanosecond)
	defer cancel()
	_, err := serving(t).ListModels(ctx, &pb.ListModelsRequest{})
	problem := failing(t, err)
	if !errors.Is(err, context.DeadlineExceeded) || problem.Category != pb.ErrorCategory_ERROR_CATEGORY_TIMEOUT || !problem.Retryable {
		t.Errorf("category %s, retryable %t", problem.Category, problem.Retryable)
	}
}

func TestStream(t *testing.T) {
	conversation := &pb.GenerateStreamRequest_Request{Request: asking("replay:claude-sonnet-4-6", "What is a ULID?")}
	var said strings.Builder
	var last *pb.Response
	for piece, err := range serving(t).Stream(soon(t), &pb.GenerateStreamRequest{Conversation: conversation}) {
		must(t, err)
		said.WriteString(piece.GetEvent().GetTextDelta().GetText())
		last = piece.GetEvent().GetMessageComplete().GetResponse()
	}
	if whole := last.GetMessage().GetContent()[0].GetText().GetText(); whole == "" || whole != said.String() {
		t.Errorf("the deltas are %q, the answer is %q", said.String(), whole)
	}
}

// batching is a server whose answer is the decision and one message of two events, for those who ask for that.
type batching struct {
	pb.UnimplementedInterlinguaServiceServer
}

func (batching) GenerateStream(request *pb.GenerateStreamRequest, answer grpc.ServerStreamingServer[pb.GenerateStreamResponse]) error {
	if !request.GetBatched() {
		return status.Error(codes.InvalidArgument, "not batched")
	}
	decision := &pb.GenerateStreamResponse_Decision{Decision: &pb.RouteDecision{}}
	if err := answer.Send(&pb.GenerateStreamResponse{Piece: decision}); err != nil {
		return err
	}
	events := &pb.Events{EventsJson: []string{"1", "2"}}
	if !request.GetJsonOutput() {
		events = &pb.Events{Events: []*pb.StreamEvent{delta("A"), delta("B")}}
	}
	return answer.Send(&pb.GenerateStreamResponse{Piece: &pb.GenerateStreamResponse_Events{Events: events}})
}

func delta(text string) *pb.StreamEvent {
	return &pb.StreamEvent{Event: &pb.StreamEvent_TextDelta{TextDelta: &pb.TextDeltaEvent{Text: text}}}
}

func TestEventsThatTravelTogetherAreGivenOneByOne(t *testing.T) {
	client := playing(t, batching{})
	given := func(request *pb.GenerateStreamRequest) (pieces []string) {
		before := proto.Clone(request)
		for piece, err := range client.Stream(soon(t), request) {
			must(t, err)
			together := piece.GetEvents()
			pieces = append(pieces, fmt.Sprintf("%t %s%s %d", piece.GetDecision() != nil,
				piece.GetEvent().GetTextDelta().GetText(), piece.GetEventJson(), len(together.GetEvents())))
		}
		if !proto.Equal(request, before) {
			t.Errorf("the caller's request became %v", request)
		}
		return pieces
	}
	for _, one := range []struct {
		request *pb.GenerateStreamRequest
		pieces  []string
	}{
		{nil, []string{"true  0", "false A 0", "false B 0"}},
		{&pb.GenerateStreamRequest{}, []string{"true  0", "false A 0", "false B 0"}},
		{&pb.GenerateStreamRequest{JsonOutput: true}, []string{"true  0", "false 1 0", "false 2 0"}},
		{&pb.GenerateStreamRequest{Batched: true}, []string{"true  0", "false  2"}},
	} {
		if pieces := given(one.request); !slices.Equal(pieces, one.pieces) {
			t.Errorf("%v gives %q", one.request, pieces)
		}
	}
}

// batchingInSession is a server of sessions whose answer is one message of two events, for those who ask for that.
type batchingInSession struct {
	pb.UnimplementedSessionServiceServer
}

func (batchingInSession) GenerateInSession(request *pb.GenerateInSessionRequest, answer grpc.ServerStreamingServer[pb.GenerateInSessionResponse]) error {
	if !request.GetBatched() {
		return status.Error(codes.InvalidArgument, "not batched")
	}
	events := &pb.Events{EventsJson: []string{"1", "2"}}
	return answer.Send(&pb.GenerateInSessionResponse{Piece: &pb.GenerateInSessionResponse_Events{Events: events}})
}

func TestEventsOfASessionThatTravelTogetherAreGivenOneByOne(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	server := grpc.NewServer()
	pb.RegisterSessionServiceServer(server, batchingInSession{})
	go server.Serve(listener)
	t.Cleanup(server.Stop)
	client := dial(t, listener.Addr().String())
	for _, one := range []struct {
		batched bool
		pieces  []string
	}{{false, []string{"1 0", "2 0"}}, {true, []string{" 2"}}} {
		var pieces []string
		for piece, err := range client.StreamInSession(soon(t), &pb.GenerateInSessionRequest{SessionId: "s", Batched: one.batched}) {
			must(t, err)
			pieces = append(pieces, fmt.Sprintf("%s %d", piece.GetEventJson(), len(piece.GetEvents().GetEventsJson())))
		}
		if !slices.Equal(pieces, one.pieces) {
			t.Errorf("batched %t gives %q", one.batched, pieces)
		}
	}
}

// endless is a server whose answer has one piece and no end. It says when the call is gone.
type endless struct {
	pb.UnimplementedInterlinguaServiceServer
	gone chan error
}

func (server endless) GenerateStream(_ *pb.GenerateStreamRequest, answer grpc.ServerStreamingServer[pb.GenerateStreamResponse]) error {
	event := &pb.GenerateStreamResponse_Event{Event: delta("A")}
	if err := answer.Send(&pb.GenerateStreamResponse{Piece: event}); err != nil {
		return err
	}
	<-answer.Context().Done()
	server.gone <- answer.Context().Err()
	return nil
}

func TestLeavingTheLoopCancelsTheCallOnTheServer(t *testing.T) {
	gone := make(chan error, 1)
	client, pieces := playing(t, endless{gone: gone}), 0
	for _, err := range client.Stream(soon(t), &pb.GenerateStreamRequest{}) {
		must(t, err)
		pieces++
		break
	}
	select {
	case err := <-gone:
		if pieces != 1 || !errors.Is(err, context.Canceled) {
			t.Errorf("%d pieces, and the server was told %v", pieces, err)
		}
	case <-time.After(10 * time.Second):
		t.Error("the server goes on with a call that was left")
	}
}

func TestStreamThatFails(t *testing.T) {
	client := guarded(t, setting(t, "INTERLINGUA_TOKEN"), true)
	conversation := &pb.GenerateStreamRequest_Request{Request: asking("anthropic:claude-sonnet-4-6", "Hello.")}
	failures := 0
	for piece, err := range client.Stream(soon(t), &pb.GenerateStreamRequest{Conversation: conversation}) {
		if piece != nil || interlingua.CategoryOf(err) != pb.ErrorCategory_ERROR_CATEGORY_RATE_LIMIT {
			t.Errorf("%v, %v", piece, err)
		}
		failures++
	}
	if failures != 1 {
		t.Errorf("%d failures", failures)
	}
}

func TestIntegersOf64Bits(t *testing.T) {
	request := asking("openai:gpt-4.1", "Hello.")
	request.Seed = proto.Int64(math.MaxInt64)
	must(t, interlingua.SetRest(request.Messages[0], map[string]any{"beyond": json.Number("18446744073709551617")}))
	answer, err := serving(t).Adapt(soon(t), &pb.AdaptRequest{Input: &pb.AdaptRequest_Request{Request: request}})
	must(t, err)
	if seed := answer.GetRequest().GetSeed(); seed != math.MaxInt64 {
		t.Errorf("seed %d", seed)
	}
	rest, err := interlingua.Rest(answer.GetRequest().GetMessages()[0])
	must(t, err)
	if rest["beyond"] != json.Number("18446744073709551617") {
		t.Errorf("the integer beyond 64 bits is %v", rest["beyond"])
	}
}

func TestDecimals(t *testing.T) {
	usage := &pb.Usage{InputTokens: 1, OutputTokens: 3}
	price := `{"input_per_mtok_usd": "0.1", "output_per_mtok_usd": "0.2"}`
	answer, err := serving(t).Estimate(soon(t), &pb.EstimateRequest{Subject: &pb.EstimateRequest_Usage{Usage: usage}, PriceJson: price})
	must(t, err)
	cost, err := interlingua.Decimal(answer.GetCost().GetLikelyUsd())
	must(t, err)
	if text := cost.FloatString(10); text != "0.0000007000" {
		t.Errorf("0.1 + 3 · 0.2 millionths are %s", text)
	}
	for _, text := range []string{"1e-7", "1/3", "", "0x1", "NaN"} {
		if _, err := interlingua.Decimal(text); err == nil {
			t.Errorf("%q is taken for a decimal", text)
		}
	}
	value, err := interlingua.ReadJSON(`{"price": 0.1234567890123456789}`)
	must(t, err)
	if text, err := interlingua.WriteJSON(value); err != nil || text != `{"price":0.1234567890123456789}` {
		t.Errorf("free JSON came back as %s", text)
	}
}

func TestAnEditedFieldStandsOverTheRest(t *testing.T) {
	read := asking("openai:gpt-4.1", "Hello.")
	read.RestJson = `{"seed": 99999999999999999999999, "holograms": true}`
	adapt := &pb.AdaptRequest{Input: &pb.AdaptRequest_Request{Request: read}}
	answer, err := serving(t).Adapt(soon(t), adapt)
	must(t, err)
	edited := answer.GetRequest()
	edited.Seed = proto.Int64(5)
	adapt.Input = &pb.AdaptRequest_Request{Request: edited}
	if _, err = serving(t).Adapt(soon(t), adapt); failing(t, err).Path != "/rest_json/seed" {
		t.Errorf("a stale member is refused at %s", failing(t, err).Path)
	}
	rest, err := interlingua.Rest(edited)
	must(t, err)
	if _, stale := rest["seed"]; stale || rest["holograms"] != true {
		t.Errorf("the rest is %v", rest)
	}
	if interlingua.SetRest(edited, map[string]any{"seed": 6}) == nil {
		t.Error("a member is taken although its field is set")
	}
	must(t, interlingua.SetRest(edited, rest))
	answer, err = serving(t).Adapt(soon(t), adapt)
	must(t, err)
	if answer.GetRequest().GetSeed() != 5 || answer.GetRequest().GetRestJson() != `{"holograms":true}` {
		t.Errorf("seed %d, rest %s", answer.GetRequest().GetSeed(), answer.GetRequest().GetRestJson())
	}
}
