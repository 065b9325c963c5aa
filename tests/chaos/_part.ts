import { setTimeout as delay } from 'node:timers/promises';
import { hasEnded, spawnService, type ServiceProcess } from '@countersign/testkit/service-process';

const startMsMax = 60_000;
const pollMs = 25;

type Wiring = { name: string; main: string; env: Record<string, string>; readyUrl: string; logFile: string };

/** A process of the installation, which is killed and started again at the same address. */
export class Part {
  readonly #wiring: Wiring;
  #process: ServiceProcess | null = null;

  constructor(wiring: Wiring) {
    this.#wiring = wiring;
  }

  async start(): Promise<void> {
    const { main, env, readyUrl, logFile } = this.#wiring;
    this.#process = spawnService(main, env, { logFile });
    const deadline = Date.now() + startMsMax;
    while (!(await isReady(readyUrl))) {
      this.assertLives();
      if (Date.now() > deadline) throw new Error(`${this.#wiring.name} is not ready after ${startMsMax} ms`);
      await delay(pollMs);
    }
  }

  async kill(): Promise<void> {
    this.assertLives();
    const running = this.#process;
    this.#process = null;
    await running?.kill();
  }

  /** The process stands still, as under a debugger or on a frozen machine, and knows nothing of it when it goes on. Returns what lets it go on. */
  freeze(): () => void {
    const child = this.#process?.child;
    child?.kill('SIGSTOP');
    return () => void child?.kill('SIGCONT');
  }

  /** Nothing that is cut or killed beside a process may end it. */
  assertLives(): void {
    if (this.#process !== null && hasEnded(this.#process.child))
      throw new Error(`${this.#wiring.name} ended, and nobody killed it`);
  }
}

function isReady(url: string): Promise<boolean> {
  return fetch(url).then(
    ({ ok }) => ok,
    () => false,
  );
}
