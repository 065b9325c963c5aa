import type { SignInId, WorkspaceId } from '@countersign/contracts';
import { socketEndCodes, type Hint, type TelemetryNumbers } from '@countersign/contracts/control-plane';
import type { WebSocket } from 'ws';
import { everyWorkspace, type HintScope, type Place, type StoredHint } from '../store/hints.ts';

/**
 * A socket with more unread bytes is closed, and its page reads everything again. The limit is more than the hints of
 * one hour in a busy workspace.
 */
const unreadBytesMax = 65_536;

/** The time that a peer has to complete the closing handshake. */
const goodbyeMs = 500;

export type SeatKind = 'console' | 'telemetry';
export type Occupant = { kind: SeatKind; sessionId: SignInId; workspaceId: WorkspaceId; place: Place };

/** One open socket. */
export class Seat {
  readonly kind: SeatKind;
  readonly sessionId: SignInId;
  readonly workspaceId: WorkspaceId;
  readonly #socket: WebSocket;
  readonly #place: Place;
  #numbersTold = 0;
  #isHeard = true;

  constructor(socket: WebSocket, { kind, sessionId, workspaceId, place }: Occupant) {
    this.#place = { ...place };
    this.#socket = socket;
    this.kind = kind;
    this.sessionId = sessionId;
    this.workspaceId = workspaceId;
    // A page must send no messages, so a message ends the socket.
    socket.on('message', () => this.end(1008));
    socket.on('error', () => socket.terminate());
    socket.on('pong', () => (this.#isHeard = true));
  }

  /** Sends the opening message of a console socket, with the place at which its hints begin. */
  begin(): void {
    if (this.kind === 'console') this.#send({ type: 'ready', ref: null, version: null });
  }

  /** The place up to which the hints of a scope were sent. `null` for a scope that does not concern this socket. */
  placeIn(scope: HintScope): number | null {
    if (scope === everyWorkspace) return this.#place.all;
    return scope === this.workspaceId ? this.#place.own : null;
  }

  /** Sends the unsent hints of a scope that concerns this socket. */
  tell(scope: HintScope, hints: readonly StoredHint[]): void {
    const which = scope === everyWorkspace ? 'all' : 'own';
    for (const { seq, type, ref, version } of hints) {
      if (seq <= this.#place[which]) continue;
      this.#place[which] = seq;
      this.#send({ type, ref, version });
      // The person may no longer be a member, so the socket ends. The gateway checks membership with the next ticket.
      if (type === 'members') this.end(socketEndCodes.membersChanged);
    }
  }

  count(numbers: Omit<TelemetryNumbers, 'v' | 'seq'>): void {
    this.#write({ v: 1, seq: ++this.#numbersTold, ...numbers });
  }

  /** Pings the peer. Cuts a peer that has not answered the last ping. */
  ping(): void {
    if (!this.#isHeard) return this.#socket.terminate();
    this.#isHeard = false;
    this.#socket.ping();
  }

  end(code: number): void {
    this.#socket.close(code);
    setTimeout(() => this.#socket.terminate(), goodbyeMs).unref();
  }

  #send(hint: Pick<Hint, 'type' | 'ref' | 'version'>): void {
    const { own, all } = this.#place;
    this.#write({ v: 1, seq: own + all, workspace_id: this.workspaceId, ...hint });
  }

  #write(message: Hint | TelemetryNumbers): void {
    if (this.#socket.bufferedAmount > unreadBytesMax) this.#socket.terminate();
    else this.#socket.send(JSON.stringify(message), () => undefined);
  }
}
