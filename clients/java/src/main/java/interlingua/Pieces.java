package interlingua;

import io.grpc.Context;
import io.grpc.Status;
import java.util.Collections;
import java.util.Iterator;
import java.util.NoSuchElementException;
import java.util.function.Function;
import java.util.stream.Stream;

/**
 * A streamed answer as it arrives, to be read once. It fails with an {@link InterlinguaException}, behind the event that
 * holds what had arrived. Closing it ends the call, so it belongs into a try-with-resources.
 */
public final class Pieces<T> implements Iterator<T>, Iterable<T>, AutoCloseable {
  private final Iterator<T> messages;
  private final Function<T, Stream<T>> apart;
  private final Context.CancellableContext call;
  private Iterator<T> waiting = Collections.emptyIterator();
  private boolean closed;

  /** The pieces of these messages; {@code apart} takes one of them apart. */
  Pieces(Iterator<T> messages, Function<T, Stream<T>> apart, Context.CancellableContext call) {
    this.messages = messages;
    this.apart = apart;
    this.call = call;
  }

  @Override
  public boolean hasNext() {
    if (closed) {
      throw InterlinguaException.of(Status.CANCELLED.withDescription("the pieces are closed").asRuntimeException());
    }
    while (!waiting.hasNext() && Client.typed(messages::hasNext)) {
      waiting = apart.apply(Client.typed(messages::next)).iterator();
    }
    return waiting.hasNext();
  }

  @Override
  public T next() {
    if (!hasNext()) {
      throw new NoSuchElementException();
    }
    return waiting.next();
  }

  @Override
  public Iterator<T> iterator() {
    return this;
  }

  @Override
  public void close() {
    closed = true;
    call.cancel(null);
  }
}
