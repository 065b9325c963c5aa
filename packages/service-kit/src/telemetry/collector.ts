/** The configured destination of telemetry. */
export type Collector = Readonly<{
  /** Base URL of an OTLP receiver over HTTP. It may contain a credential. */
  url: string;
  /** The headers may contain credentials. */
  headers: Readonly<Record<string, string>>;
}>;

/** The printable part of an address: no user, no password, no query. */
export function shownAddress(url: string): string {
  const { origin, pathname } = new URL(url);
  return `${origin}${pathname.replace(/\/+$/, '')}`;
}

/** An OTLP receiver has one path for each signal below its base. */
export function signalUrl(url: string, signal: 'traces' | 'metrics'): string {
  const target = new URL(url);
  target.pathname = `${target.pathname.replace(/\/+$/, '')}/v1/${signal}`;
  return target.href;
}

const headerName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const headerValue = /^[\t\x20-\x7e]*$/;

/** `name=value,name=value` with percent-encoded values, in OpenTelemetry's format. `null` for any other text. */
export function parseHeaders(text: string): Record<string, string> | null {
  const pairs = text
    .split(',')
    .filter((item) => item.trim() !== '')
    .map(parsePair);
  return pairs.every((pair) => pair !== null) ? Object.fromEntries(pairs) : null;
}

function parsePair(item: string): [string, string] | null {
  const at = item.indexOf('=');
  const name = item.slice(0, Math.max(0, at)).trim();
  const value = decoded(item.slice(at + 1).trim());
  return headerName.test(name) && value !== null && headerValue.test(value) ? [name, value] : null;
}

function decoded(text: string): string | null {
  try {
    return decodeURIComponent(text);
  } catch {
    return null;
  }
}
