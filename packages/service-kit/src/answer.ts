/**
 * Hides an answer's content behind a symbol, so that a reply of a contract is never mistaken for an answer because of
 * its member names.
 */
const content = Symbol('answer');

type Content<Body> = { status: number; headers: Readonly<Record<string, string>>; body: Body };
type Value<Reply> = { kind: 'value'; value: Reply };
type Serialised = { kind: 'serialised'; text: string };

/** A reply with a status of its own. */
export type Answer<Reply> = { readonly [content]: Content<Value<Reply>> };
/** A reply that is already JSON text. */
export type Prepared = { readonly [content]: Content<Serialised> };

/** Answers with this status and additional headers. `status` must be `route.status` or one of `route.alsoStatus`. */
export function answer<Reply>(status: number, body: Reply, headers: Record<string, string> = {}): Answer<Reply> {
  return { [content]: { status, headers, body: { kind: 'value', value: body } } };
}

/** Answers with a reply that is already serialised, for hot paths. It is sent unchanged. */
export function prepared(status: number, text: string, headers: Record<string, string> = {}): Prepared {
  return { [content]: { status, headers, body: { kind: 'serialised', text } } };
}

/**
 * The result of a handler that writes to `res` itself. Only for routes that pass through, and for media whose answers
 * are not one text, such as streams.
 */
export const takenOver: unique symbol = Symbol('taken over');

/** The content of an answer, or `null` for a plain reply. */
export function answerContent(result: unknown): Content<Value<unknown> | Serialised> | null {
  if (typeof result !== 'object' || result === null || !(content in result)) return null;
  return (result as Answer<unknown> | Prepared)[content]; // only the functions above can write this symbol
}
