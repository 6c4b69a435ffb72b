// Package interlingua speaks to a server of Interlingua: conversations with language models, carried between providers,
// routed and generated.
//
// [Client] has the methods of the generated stubs, those of sessions among them, and its errors are of type [*Error]. The messages are in the package
// interlinguav1 beside this one.
package interlingua

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"iter"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/protobuf/proto"

	pb "github.com/interlingua/interlingua/clients/go/interlinguav1"
)

// MaxMessageBytes is the largest message that a server takes or gives unless it is told otherwise.
const MaxMessageBytes = 64 << 20

// Client is a connection to a server. It may be used by many goroutines at once.
type Client struct {
	pb.InterlinguaServiceClient
	pb.SessionServiceClient
	connection *grpc.ClientConn
}

// Option changes how [Dial] connects.
type Option func(*settings)

type settings struct {
	tls   *tls.Config
	token string
	grpc  []grpc.DialOption
}

// WithTLS connects by TLS. The roots of the configuration are those of the system unless it names others; its
// certificates are shown to a server that asks for them.
func WithTLS(config *tls.Config) Option { return func(s *settings) { s.tls = config } }

// WithToken sends the token with every call, as "authorization: Bearer". Without TLS the token travels in the clear.
func WithToken(token string) Option { return func(s *settings) { s.token = token } }

// WithDialOptions adds options of gRPC, e.g. interceptors or keep-alive.
func WithDialOptions(options ...grpc.DialOption) Option {
	return func(s *settings) { s.grpc = append(s.grpc, options...) }
}

// Dial makes a client of the server at an address, e.g. "localhost:50051" or "unix:/run/interlingua.sock". The connection
// itself is opened by the first call.
func Dial(address string, options ...Option) (*Client, error) {
	var chosen settings
	for _, option := range options {
		option(&chosen)
	}
	transport := insecure.NewCredentials()
	if chosen.tls != nil {
		transport = credentials.NewTLS(chosen.tls)
	}
	dial := []grpc.DialOption{
		grpc.WithTransportCredentials(transport),
		grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(MaxMessageBytes), grpc.MaxCallSendMsgSize(MaxMessageBytes)),
		grpc.WithUnaryInterceptor(unaryErrors),
		grpc.WithStreamInterceptor(streamErrors),
	}
	if chosen.token != "" {
		dial = append(dial, grpc.WithPerRPCCredentials(bearer(chosen.token)))
	}
	connection, err := grpc.NewClient(address, append(dial, chosen.grpc...)...)
	if err != nil {
		return nil, err
	}
	return &Client{pb.NewInterlinguaServiceClient(connection), pb.NewSessionServiceClient(connection), connection}, nil
}

// Close ends the connection and all calls on it.
func (c *Client) Close() error { return c.connection.Close() }

// Stream is GenerateStream as an iterator: the pieces of the answer as they arrive, the routing decision first when the
// server routed. A stream that fails ends with an error, behind the event that holds what had arrived. Leaving the loop
// cancels the call.
//
// Events that arrived together travel in one message and are given one by one; a request that itself says batched gets
// them as they travel.
func (c *Client) Stream(ctx context.Context, request *pb.GenerateStreamRequest) iter.Seq2[*pb.GenerateStreamResponse, error] {
	asked := proto.CloneOf(request)
	if asked == nil {
		asked = &pb.GenerateStreamRequest{}
	}
	asked.Batched = true
	return pieces(ctx, asked, c.GenerateStream, func(message *pb.GenerateStreamResponse) []*pb.GenerateStreamResponse {
		if request.GetBatched() || message.GetEvents() == nil {
			return []*pb.GenerateStreamResponse{message}
		}
		return apart(message.GetEvents(), func(event *pb.StreamEvent) *pb.GenerateStreamResponse {
			return &pb.GenerateStreamResponse{Piece: &pb.GenerateStreamResponse_Event{Event: event}}
		}, func(text string) *pb.GenerateStreamResponse {
			return &pb.GenerateStreamResponse{Piece: &pb.GenerateStreamResponse_EventJson{EventJson: text}}
		})
	})
}

// StreamInSession is GenerateInSession as an iterator, as Stream is GenerateStream.
func (c *Client) StreamInSession(ctx context.Context, request *pb.GenerateInSessionRequest) iter.Seq2[*pb.GenerateInSessionResponse, error] {
	asked := proto.CloneOf(request)
	if asked == nil {
		asked = &pb.GenerateInSessionRequest{}
	}
	asked.Batched = true
	return pieces(ctx, asked, c.GenerateInSession, func(message *pb.GenerateInSessionResponse) []*pb.GenerateInSessionResponse {
		if request.GetBatched() || message.GetEvents() == nil {
			return []*pb.GenerateInSessionResponse{message}
		}
		return apart(message.GetEvents(), func(event *pb.StreamEvent) *pb.GenerateInSessionResponse {
			return &pb.GenerateInSessionResponse{Piece: &pb.GenerateInSessionResponse_Event{Event: event}}
		}, func(text string) *pb.GenerateInSessionResponse {
			return &pb.GenerateInSessionResponse{Piece: &pb.GenerateInSessionResponse_EventJson{EventJson: text}}
		})
	})
}

// pieces iterates over a stream, each of whose messages may be several pieces. Leaving the loop cancels the call.
func pieces[Q, M any](
	ctx context.Context,
	request *Q,
	open func(context.Context, *Q, ...grpc.CallOption) (grpc.ServerStreamingClient[M], error),
	apart func(*M) []*M,
) iter.Seq2[*M, error] {
	return func(yield func(*M, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		stream, err := open(ctx, request)
		if err != nil {
			yield(nil, err)
			return
		}
		for {
			message, err := stream.Recv()
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, err)
				return
			}
			for _, piece := range apart(message) {
				if !yield(piece, nil) {
					return
				}
			}
		}
	}
}

// apart gives the events of one message as pieces of their own; they are messages or JSON texts, never both.
func apart[M any](events *pb.Events, ofEvent func(*pb.StreamEvent) *M, ofText func(string) *M) []*M {
	found := make([]*M, 0, len(events.GetEvents())+len(events.GetEventsJson()))
	for _, event := range events.GetEvents() {
		found = append(found, ofEvent(event))
	}
	for _, text := range events.GetEventsJson() {
		found = append(found, ofText(text))
	}
	return found
}

// Text is a message of one text.
func Text(role pb.Role, text string) *pb.Message {
	return &pb.Message{Role: role, Content: []*pb.ContentBlock{TextBlock(text)}}
}

// TextBlock is a block of text.
func TextBlock(text string) *pb.ContentBlock {
	return &pb.ContentBlock{Block: &pb.ContentBlock_Text{Text: &pb.TextBlock{Text: text}}}
}

// ToolResult is the message that answers a call with what the tool returned.
func ToolResult(call *pb.ToolUseBlock, content ...*pb.ContentBlock) *pb.Message {
	result := &pb.ToolResultBlock{ToolUseId: call.GetId(), Content: content}
	return &pb.Message{
		Role:     pb.Role_ROLE_TOOL,
		Content:  []*pb.ContentBlock{{Block: &pb.ContentBlock_ToolResult{ToolResult: result}}},
		Metadata: &pb.MessageMetadata{ParentToolUseId: &result.ToolUseId},
	}
}

// Calls are the tool calls of a message, in order.
func Calls(message *pb.Message) []*pb.ToolUseBlock {
	var calls []*pb.ToolUseBlock
	for _, block := range message.GetContent() {
		if call := block.GetToolUse(); call != nil {
			calls = append(calls, call)
		}
	}
	return calls
}

type bearer string

func (b bearer) GetRequestMetadata(context.Context, ...string) (map[string]string, error) {
	return map[string]string{"authorization": "Bearer " + string(b)}, nil
}

func (bearer) RequireTransportSecurity() bool { return false }
