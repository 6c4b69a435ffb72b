package interlingua;

import io.grpc.Context;
import io.grpc.Status;
import java.util.Iterator;

/**
 * A streamed answer as it arrives, to be read once. It fails with an {@link InterlinguaException}, behind the event that
 * holds what had arrived. Closing it ends the call, so it belongs into a try-with-resources.
 */
public final class Pieces<T> implements Iterator<T>, Iterable<T>, AutoCloseable {
  private final Iterator<T> pieces;
  private final Context.CancellableContext call;

  Pieces(Iterator<T> pieces, Context.CancellableContext call) {
    this.pieces = pieces;
    this.call = call;
  }

  @Override
  public boolean hasNext() {
    if (call.isCancelled()) { // what has arrived already may not be all
      throw InterlinguaException.of(Status.CANCELLED.withDescription("the pieces are closed").asRuntimeException());
    }
    return Client.typed(pieces::hasNext);
  }

  @Override
  public T next() {
    return Client.typed(pieces::next);
  }

  @Override
  public Iterator<T> iterator() {
    return this;
  }

  @Override
  public void close() {
    call.cancel(null);
  }
}
