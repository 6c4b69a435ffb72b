package interlingua

import (
	"context"
	"errors"
	"io"
	"strings"
	"time"

	"google.golang.org/genproto/googleapis/rpc/errdetails"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"

	pb "github.com/interlingua/interlingua/clients/go/interlinguav1"
)

// Error is how every call of a [Client] fails.
//
// Error() gives the server's sentence and its place, "… (at /target)", which hold no content: what the provider said is in
// Canonical.ProviderMessage, and does not belong in a log.
type Error struct {
	// Category tells whose fault it is and what kind, e.g. ERROR_CATEGORY_RATE_LIMIT. A failure that is not the server's,
	// such as a connection that is refused, has the category of its status.
	Category pb.ErrorCategory
	// Message says what is wrong and what to do.
	Message string
	// Path is a JSON Pointer to the place in the input, or empty.
	Path string
	// Retryable tells whether the same call may succeed later.
	Retryable bool
	// RetryAfter is how long to wait before that; 0 when the server did not say.
	RetryAfter time.Duration
	// Loss is the report of a refused projection. Details are cut to 6,000 bytes: LossEntries tells how many there were.
	Loss        []*pb.LossEntry
	LossEntries int
	// Violations are the broken rules of an invalid request.
	Violations []*pb.Violation
	// Usage is what was paid for an answer that did not come to its end; nil when nothing is known of that.
	Usage *pb.Usage
	// Canonical is the whole error as the server gave it; nil when the failure is not the server's.
	Canonical *pb.Error

	status *status.Status
}

func (e *Error) Error() string { return e.status.Message() }

// GRPCStatus is the status that the call ended with: with it, the functions of the package status work as ever.
func (e *Error) GRPCStatus() *status.Status { return e.status }

// Is lets errors.Is(err, context.Canceled) and errors.Is(err, context.DeadlineExceeded) be true of such calls.
func (e *Error) Is(target error) bool {
	return target == context.Canceled && e.status.Code() == codes.Canceled ||
		target == context.DeadlineExceeded && e.status.Code() == codes.DeadlineExceeded
}

// CategoryOf is the category of an error, also of a wrapped one; unspecified when it is none of a call.
func CategoryOf(err error) pb.ErrorCategory {
	var problem *Error
	if errors.As(err, &problem) {
		return problem.Category
	}
	return pb.ErrorCategory_ERROR_CATEGORY_UNSPECIFIED
}

// The category of a status that comes without details: from the transport, or from what stands before the server.
var categories = map[codes.Code]pb.ErrorCategory{
	codes.InvalidArgument:   pb.ErrorCategory_ERROR_CATEGORY_INVALID_REQUEST,
	codes.Unauthenticated:   pb.ErrorCategory_ERROR_CATEGORY_AUTHENTICATION,
	codes.PermissionDenied:  pb.ErrorCategory_ERROR_CATEGORY_PERMISSION,
	codes.NotFound:          pb.ErrorCategory_ERROR_CATEGORY_NOT_FOUND,
	codes.Unimplemented:     pb.ErrorCategory_ERROR_CATEGORY_UNSUPPORTED,
	codes.ResourceExhausted: pb.ErrorCategory_ERROR_CATEGORY_UNSUPPORTED, // a message above the client's own limit
	codes.OutOfRange:        pb.ErrorCategory_ERROR_CATEGORY_UNSUPPORTED,
	codes.DeadlineExceeded:  pb.ErrorCategory_ERROR_CATEGORY_TIMEOUT,
	codes.Canceled:          pb.ErrorCategory_ERROR_CATEGORY_CANCELLED,
	codes.Unavailable:       pb.ErrorCategory_ERROR_CATEGORY_NETWORK,
}

func typed(err error) error {
	if err == nil || errors.Is(err, io.EOF) {
		return err
	}
	found := status.Convert(err)
	category, known := categories[found.Code()]
	if !known {
		category = pb.ErrorCategory_ERROR_CATEGORY_OTHER
	}
	problem := &Error{Category: category, Message: found.Message(), status: found}
	problem.Retryable = mayPass(found)
	for _, detail := range found.Details() {
		switch detail := detail.(type) {
		case *errdetails.RetryInfo:
			problem.RetryAfter = detail.GetRetryDelay().AsDuration()
		case *errdetails.BadRequest:
			for _, broken := range detail.GetFieldViolations() {
				rule := &pb.Violation{Rule: broken.GetReason(), Path: broken.GetField(), Message: broken.GetDescription()}
				problem.Violations = append(problem.Violations, rule)
			}
		case *errdetails.ErrorInfo:
			problem.LossEntries = count(detail.GetMetadata()["loss_entries"])
		case *pb.Usage:
			problem.Usage = detail
		case *pb.Error:
			problem.fill(detail)
		}
	}
	return problem
}

// Whether the same call may succeed later, of a status that comes without details. What crypto/tls refuses, such as a
// certificate or a server without TLS, stays refused until somebody changes the configuration; gRPC tells it in text alone.
func mayPass(found *status.Status) bool {
	switch found.Code() {
	case codes.DeadlineExceeded:
		return true
	case codes.Unavailable:
		return !strings.Contains(found.Message(), "tls: ")
	}
	return false
}

func (e *Error) fill(canonical *pb.Error) {
	e.Canonical, e.Category = canonical, canonical.GetCategory()
	if _, known := pb.ErrorCategory_name[int32(e.Category)]; !known {
		e.Category = pb.ErrorCategory_ERROR_CATEGORY_OTHER
	}
	e.Message, e.Path, e.Retryable = canonical.GetMessage(), canonical.GetPath(), canonical.GetRetryable()
	e.Loss = canonical.GetLoss()
}

func unaryErrors(ctx context.Context, method string, request, reply any, connection *grpc.ClientConn, invoke grpc.UnaryInvoker, options ...grpc.CallOption) error {
	return typed(invoke(ctx, method, request, reply, connection, options...))
}

func streamErrors(ctx context.Context, about *grpc.StreamDesc, connection *grpc.ClientConn, method string, open grpc.Streamer, options ...grpc.CallOption) (grpc.ClientStream, error) {
	stream, err := open(ctx, about, connection, method, options...)
	return typedStream{stream}, typed(err)
}

type typedStream struct{ grpc.ClientStream }

func (s typedStream) RecvMsg(message any) error { return typed(s.ClientStream.RecvMsg(message)) }
func (s typedStream) SendMsg(message any) error { return typed(s.ClientStream.SendMsg(message)) }
