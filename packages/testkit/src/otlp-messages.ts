/** The fields of a span that a collector reads. */
export type ReceivedSpan = {
  name: string;
  /** The kind in the protocol: 1 internal, 2 server, 3 client, 4 producer, 5 consumer. */
  kind: number;
  traceId: string;
  spanId: string;
  /** Empty for the root span of a trace. */
  parentSpanId: string;
  fields: Record<string, string | number | boolean>;
  resource: Record<string, string | number | boolean>;
  /** The status in the protocol: 0 unset, 1 ok, 2 error. */
  status: number;
};

/** Field numbers of opentelemetry-proto: trace.proto, metrics.proto, resource.proto and common.proto. */
const member = {
  resourceSpans: 1,
  resource: 1,
  scopeSpans: 2,
  spans: 2,
  span: { traceId: 1, spanId: 2, parentSpanId: 4, name: 5, kind: 6, attributes: 9, status: 15 },
  statusCode: 3,
  resourceAttributes: 1,
  resourceMetrics: 1,
  scopeMetrics: 2,
  metrics: 2,
  metricName: 1,
} as const;

/** The spans of an ExportTraceServiceRequest. Throws for other bytes. */
export function spansIn(body: Buffer): ReceivedSpan[] {
  return nested(readMessage(body), member.resourceSpans).flatMap((ofResource) => {
    const [about] = nested(ofResource, member.resource);
    const resource = about === undefined ? {} : fieldsIn(about, member.resourceAttributes);
    return nested(ofResource, member.scopeSpans).flatMap((ofScope) =>
      nested(ofScope, member.spans).map((span) => spanOf(span, resource)),
    );
  });
}

/** The names in an ExportMetricsServiceRequest. */
export function metricNamesIn(body: Buffer): string[] {
  return nested(readMessage(body), member.resourceMetrics).flatMap((ofResource) =>
    nested(ofResource, member.scopeMetrics).flatMap((ofScope) =>
      nested(ofScope, member.metrics).map((metric) => textOf(metric, member.metricName)),
    ),
  );
}

function spanOf(span: Message, resource: ReceivedSpan['resource']): ReceivedSpan {
  const { traceId, spanId, parentSpanId, name, kind, attributes, status } = member.span;
  const [ended] = nested(span, status);
  return {
    name: textOf(span, name),
    kind: numberOf(span, kind),
    traceId: bytesOf(span, traceId).toString('hex'),
    spanId: bytesOf(span, spanId).toString('hex'),
    parentSpanId: bytesOf(span, parentSpanId).toString('hex'),
    fields: fieldsIn(span, attributes),
    resource,
    status: ended === undefined ? 0 : numberOf(ended, member.statusCode),
  };
}

/** In KeyValue, field 1 is the key and field 2 the AnyValue: string 1, bool 2, int 3, double 4. */
function fieldsIn(message: Message, attributes: number): ReceivedSpan['fields'] {
  return Object.fromEntries(
    nested(message, attributes).map((pair) => {
      const [value] = nested(pair, 2);
      return [textOf(pair, 1), value === undefined ? '' : anyValue(value)];
    }),
  );
}

function anyValue(value: Message): string | number | boolean {
  if (value.has(2)) return numberOf(value, 2) === 1;
  if (value.has(3)) return numberOf(value, 3);
  if (value.has(4)) return bytesOf(value, 4).readDoubleLE();
  return textOf(value, 1);
}

/** Values by field number: a number for a varint, bytes for all other types. */
type Message = Map<number, (number | Buffer)[]>;

function readMessage(bytes: Buffer): Message {
  const message: Message = new Map();
  let at = 0;
  const varint = () => {
    let value = 0n;
    for (let shift = 0n; ; shift += 7n) {
      const byte = bytes[at++];
      if (byte === undefined) throw new Error('The message ends in the middle of a number');
      value |= BigInt(byte & 0x7f) << shift;
      if (byte < 0x80) return Number(value);
    }
  };
  const take = (length: number) => {
    if (at + length > bytes.length) throw new Error('The message ends before its member does');
    return bytes.subarray(at, (at += length));
  };
  const readers: Record<number, () => number | Buffer> = {
    0: varint,
    1: () => take(8),
    2: () => take(varint()),
    5: () => take(4),
  };
  while (at < bytes.length) {
    const key = varint();
    const read = readers[key & 7];
    if (read === undefined) throw new Error(`No such wire type: ${key & 7}`);
    message.set(key >>> 3, [...(message.get(key >>> 3) ?? []), read()]);
  }
  return message;
}

function nested(message: Message, number: number): Message[] {
  return (message.get(number) ?? []).filter((value) => typeof value !== 'number').map(readMessage);
}

function bytesOf(message: Message, number: number): Buffer {
  const [value] = message.get(number) ?? [];
  return Buffer.isBuffer(value) ? value : Buffer.alloc(0);
}

function textOf(message: Message, number: number): string {
  return bytesOf(message, number).toString('utf8');
}

function numberOf(message: Message, number: number): number {
  const [value] = message.get(number) ?? [];
  return typeof value === 'number' ? value : 0;
}
