import { instantOf, type Instant, type TenantId } from '@countersign/contracts';
import type { ServerHealth } from '@countersign/contracts/governance-kernel';
import { problemText } from '@countersign/service-kit';
import { CallSlots } from './call-slots.ts';
import { Circuit } from './circuit.ts';
import type { Redact } from './configured-secrets.ts';
import { shownLine } from './last-words.ts';
import type { McpServerConfig } from './server-config.ts';
import { Suspended } from './not-reached.ts';

type GuardOptions = {
  config: McpServerConfig;
  redact: Redact;
  /** Whether the error shows that the server did not answer. */
  isServerFault(error: unknown): boolean;
  /** Whether the error shows that the connection or its session has ended. */
  isLost(error: unknown): boolean;
  callTimeoutMs: number;
  listTimeoutMs: number;
  now: () => number;
  clock: () => Date;
};

type Call<Result> = { tenant: TenantId; signal: AbortSignal; send(): Promise<Result> };

/** Some tools are slow, so one slow call proves nothing. */
const callFailuresMax = 5;

/** Limits what one server can cost the kernel, and records its health as this kernel sees it. */
export class ServerGuard {
  readonly #options: GuardOptions;
  readonly #slots: CallSlots;
  readonly #calls: Circuit;
  /** Decisions wait for lists, so one list without an answer opens the circuit. */
  readonly #lists: Circuit;
  #state: ServerHealth['state'] = 'idle';
  #sinceMs: number;
  #lastError: { message: string; at: Instant } | null = null;

  constructor(options: GuardOptions) {
    const { config, callTimeoutMs, listTimeoutMs, now, clock } = options;
    this.#options = options;
    this.#slots = new CallSlots(config.limits?.concurrent_calls);
    this.#calls = new Circuit({ failuresMax: callFailuresMax, attemptMsMax: callTimeoutMs, now });
    this.#lists = new Circuit({ failuresMax: 1, attemptMsMax: listTimeoutMs, now });
    this.#sinceMs = clock().getTime();
  }

  /** Throws NotSent when the server has too many calls in progress, or did not answer the last ones. */
  async call<Result>({ tenant, signal, send }: Call<Result>): Promise<Result> {
    const release = this.#slots.take(tenant);
    try {
      const attempt = this.#calls.begin();
      if (attempt === null)
        throw new Suspended('The last calls to the MCP server got no answer. A later call is sent as a trial');
      return await this.#watched(attempt, send, (error) => this.#options.isServerFault(error) && !signal.aborted);
    } finally {
      release();
    }
  }

  /**
   * Throws Suspended while the circuit is open. A lost connection leaves the circuit unchanged, since the server is
   * connected again.
   */
  async list<Result>(send: () => Promise<Result>): Promise<Result> {
    const attempt = this.#lists.begin();
    if (attempt === null)
      throw new Suspended('The MCP server did not list its tools. A later list is requested as a trial');
    return await this.#watched(
      attempt,
      send,
      (error) => this.#options.isServerFault(error) && !this.#options.isLost(error),
    );
  }

  connected(): void {
    this.#become(this.#calls.isOpen || this.#lists.isOpen ? 'suspended' : 'connected');
  }

  unreachable(problem: string): void {
    this.#become('unreachable');
    this.#failed(problem);
  }

  /** `failures` and `retryAtMs` describe the connection. */
  view({ failures, retryAtMs }: { failures: number; retryAtMs: number }): ServerHealth {
    const { now, clock } = this.#options;
    const open = [this.#calls, this.#lists].find(({ isOpen }) => isOpen);
    const dueAtMs = failures > 0 ? retryAtMs : open?.retryAtMs;
    const inMs = dueAtMs === undefined ? null : Math.max(0, Math.round(dueAtMs - now()));
    return {
      state: this.#state,
      since: instantOf(this.#sinceMs),
      consecutive_failures: failures > 0 ? failures : Math.max(this.#calls.failures, this.#lists.failures),
      last_error: this.#lastError,
      retry_at: inMs === null ? null : instantOf(clock().getTime() + inMs),
      running_calls: this.#slots.running,
    };
  }

  async #watched<Result>(
    attempt: { succeeded(): void; failed(): void },
    send: () => Promise<Result>,
    isFailure: (error: unknown) => boolean,
  ): Promise<Result> {
    try {
      const result = await send();
      attempt.succeeded();
      return result;
    } catch (error) {
      if (isFailure(error)) {
        attempt.failed();
        this.#failed(shownLine(this.#options.redact(problemText(error))));
      } else if (!this.#options.isServerFault(error)) attempt.succeeded();
      throw error;
    } finally {
      if (this.#state !== 'unreachable') this.connected();
    }
  }

  #become(state: ServerHealth['state']): void {
    if (state === this.#state) return;
    this.#state = state;
    this.#sinceMs = this.#options.clock().getTime();
  }

  #failed(message: string): void {
    this.#lastError = {
      message: message.slice(0, messageLengthMax),
      at: instantOf(this.#options.clock().getTime()),
    };
  }
}

const messageLengthMax = 512;
