import { socketProtocols, ticketProtocolPrefix } from '@countersign/contracts/control-plane';

type SocketOptions = {
  kind: keyof typeof socketProtocols;
  newTicket(signal: AbortSignal): Promise<string>;
  onMessage(text: string): void;
  /** Whether messages arrive at present. */
  onState(isOpen: boolean): void;
};

/** The wait before a reconnect. Sockets end every few minutes, and pages read their data again after each reconnect. */
const reopenMs = { first: 500, max: 15_000 };

/**
 * Keeps one socket open until the returned function is called. Each connection needs a new ticket, which is issued only
 * while the person has access.
 */
export function keepSocket({ kind, newTicket, onMessage, onState }: SocketOptions): () => void {
  const ended = new AbortController();
  let socket: WebSocket | null = null;
  let failures = 0;

  const isEnded = () => ended.signal.aborted;
  const again = () => {
    if (isEnded()) return;
    const waitMs = Math.min(reopenMs.max, reopenMs.first * 2 ** failures);
    if (failures > 0) onState(false);
    failures += 1;
    setTimeout(() => void open(), waitMs * Math.random());
  };
  const open = async () => {
    if (isEnded()) return;
    const ticket = await newTicket(ended.signal).catch(() => null);
    if (isEnded()) return;
    if (ticket === null) return again();
    const address = new URL(`/ws/${kind}`, location.origin.replace(/^http/, 'ws'));
    socket = new WebSocket(address, [socketProtocols[kind], `${ticketProtocolPrefix}${ticket}`]);
    socket.onmessage = ({ data }) => {
      failures = 0;
      onState(true);
      onMessage(String(data));
    };
    socket.onclose = again;
  };
  void open();
  return () => {
    ended.abort();
    socket?.close();
  };
}
