import { setTimeout as sleep } from 'node:timers/promises';
import { AppError, type WorkspaceId } from '@countersign/contracts';
import { socketEndCodes, type TelemetryNumbers } from '@countersign/contracts/control-plane';
import type { SessionWatch } from '@countersign/service-kit';
import type { WebSocket } from 'ws';
import { everyWorkspace, type HintScope, type StoredHint } from '../store/hints.ts';
import { Seat, type Occupant } from './seat.ts';

type Numbers = Omit<TelemetryNumbers, 'v' | 'seq'>;

type RoomOptions = {
  /** The place of the last hint in each of these scopes. All are read at the same moment. */
  readHeads(scopes: readonly HintScope[]): Promise<ReadonlyMap<string, number>>;
  readHints(request: { scope: HintScope; after: number; to: number }): Promise<StoredHint[]>;
  readNumbers(workspaceId: WorkspaceId): Promise<Numbers>;
  sessionWatch: SessionWatch;
  onFailure(error: unknown): void;
};

/** The pause between two reads of the hints. */
const lookEveryMs = 300;
const numbersEveryMs = 2_000;
/** The pause between two pings. Common proxies cut a connection only after a longer silence. */
const pingEveryMs = 15_000;
/** After this time without a successful read, all sockets are closed, so that pages treat their state as unknown. */
const unknownMaxMs = 5_000;
/** More hints at once count as a gap, after which pages read everything. */
const hintsAtOnceMax = 100;
/** The limits for tabs of one browser and for pages of one workspace. */
const seatsOfSessionMax = 16;
const seatsOfWorkspaceMax = 1_000;
const goingAway = 1_001;

/** All sockets of this process. It queries hints once for all of them, and not at all when there are none. */
export class SocketRoom {
  readonly #options: RoomOptions;
  readonly #seats = new Set<Seat>();
  #looking: Promise<void> | null = null;
  #isStopped = false;
  #countedAtMs = 0;
  #pingedAtMs = 0;

  constructor(options: RoomOptions) {
    this.#options = options;
  }

  /** Throws RATE_LIMITED while the session or the workspace has too many open sockets. */
  requireRoom({ sessionId, workspaceId }: Pick<Occupant, 'sessionId' | 'workspaceId'>): void {
    const seats = [...this.#seats];
    const ofSession = seats.filter((seat) => seat.sessionId === sessionId).length;
    const ofWorkspace = seats.filter((seat) => seat.workspaceId === workspaceId).length;
    if (ofSession < seatsOfSessionMax && ofWorkspace < seatsOfWorkspaceMax) return;
    throw new AppError('RATE_LIMITED', 'Too many sockets are open. Close one first', {
      headers: { 'retry-after': '1' },
    });
  }

  /** Sends changes to a socket until it closes, its session ends, or `leaving` aborts. */
  seat(socket: WebSocket, occupant: Occupant, leaving: AbortSignal): void {
    const seat = new Seat(socket, occupant);
    const gone = new AbortController();
    this.#seats.add(seat);
    seat.begin();
    socket.once('close', () => {
      this.#seats.delete(seat);
      gone.abort();
    });
    const over = this.#options.sessionWatch.untilOver(occupant.sessionId, gone.signal);
    over.addEventListener('abort', () => seat.end(socketEndCodes.sessionOver), { once: true });
    if (over.aborted || this.#isStopped) seat.end(goingAway);
    leaving.addEventListener('abort', () => seat.end(goingAway), { once: true });
    this.#looking ??= this.#look();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const seat of this.#seats) seat.end(goingAway);
    await this.#looking;
  }

  async #look(): Promise<void> {
    let knownAtMs = performance.now();
    while (this.#seats.size > 0 && !this.#isStopped) {
      try {
        await this.#tellNews();
        await this.#tellNumbers();
        this.#ping();
        knownAtMs = performance.now();
      } catch (error) {
        this.#options.onFailure(error);
        if (performance.now() - knownAtMs > unknownMaxMs) for (const seat of this.#seats) seat.end(goingAway);
      }
      await sleep(lookEveryMs);
    }
    this.#looking = null;
  }

  async #tellNews(): Promise<void> {
    const seats = [...this.#seats].filter(({ kind }) => kind === 'console');
    if (seats.length === 0) return;
    const scopes = [everyWorkspace, ...new Set(seats.map(({ workspaceId }) => workspaceId))] as const;
    const heads = await this.#options.readHeads(scopes);
    for (const scope of scopes) await this.#tellScope(scope, heads.get(scope) ?? 0);
  }

  async #tellScope(scope: HintScope, head: number): Promise<void> {
    const behind = [...this.#seats].filter((seat) => seat.kind === 'console' && (seat.placeIn(scope) ?? head) < head);
    if (behind.length === 0) return;
    const first = Math.min(...behind.map((seat) => seat.placeIn(scope) ?? head));
    const after = Math.max(first, head - hintsAtOnceMax);
    const hints = await this.#options.readHints({ scope, after, to: head });
    for (const seat of behind) seat.tell(scope, hints);
  }

  async #tellNumbers(): Promise<void> {
    if (performance.now() - this.#countedAtMs < numbersEveryMs) return;
    const seats = [...this.#seats].filter(({ kind }) => kind === 'telemetry');
    for (const workspaceId of new Set(seats.map((seat) => seat.workspaceId))) {
      const numbers = await this.#options.readNumbers(workspaceId);
      for (const seat of seats) if (seat.workspaceId === workspaceId) seat.count(numbers);
    }
    this.#countedAtMs = performance.now();
  }

  #ping(): void {
    if (performance.now() - this.#pingedAtMs < pingEveryMs) return;
    this.#pingedAtMs = performance.now();
    for (const seat of this.#seats) seat.ping();
  }
}
