/** Hides an answer's content behind a symbol, so that no reply of a contract can be mistaken for one by its member names. */
const content = Symbol('answer');

type Content<Body> = { status: number; headers: Readonly<Record<string, string>>; body: Body };
type Value<Reply> = { kind: 'value'; value: Reply };
type Serialised = { kind: 'serialised'; text: string };

/** A reply with a status of its own. */
export type Answer<Reply> = { readonly [content]: Content<Value<Reply>> };
/** A reply that is JSON text already. */
export type Prepared = { readonly [content]: Content<Serialised> };

/** Answers with one of `route.alsoStatus` (or `route.status`), and with further headers. */
export function answer<Reply>(status: number, body: Reply, headers: Record<string, string> = {}): Answer<Reply> {
  return { [content]: { status, headers, body: { kind: 'value', value: body } } };
}

/** Answers with a reply that is serialised already: the hot path keeps text, not objects. It is sent as it is. */
export function prepared(status: number, text: string, headers: Record<string, string> = {}): Prepared {
  return { [content]: { status, headers, body: { kind: 'serialised', text } } };
}

/**
 * The result of a handler that has written, or goes on writing, to `res` itself. Only for routes whose media is not
 * `json`.
 */
export const takenOver: unique symbol = Symbol('taken over');

/** The content of an answer, or null for a plain reply. */
export function answerContent(result: unknown): Content<Value<unknown> | Serialised> | null {
  if (typeof result !== 'object' || result === null || !(content in result)) return null;
  return (result as Answer<unknown> | Prepared)[content]; // only the functions above can write under this symbol
}
