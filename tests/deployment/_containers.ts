import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { serviceNames, services as register } from '@countersign/services';
import { parseDocument } from 'yaml';

const root = fileURLToPath(new URL('../..', import.meta.url));
const project = 'countersign-deploy-test';
export const images: readonly string[] = [...serviceNames, 'migrations'];
export const services = register.map(({ container }) => container);
export const servers = ['postgres', 'rabbitmq'] as const;
const jobs = ['provision', ...services.map((container) => `migrate-${container}` as const)] as const;
type Container = (typeof services)[number] | (typeof servers)[number] | (typeof jobs)[number];

/** Throws if a required tool is missing on the machine, and names the missing tools. */
export function requireTools(): void {
  const isThere = (command: string, ...args: string[]) => spawnSync(command, args).status === 0;
  const missing = [
    ['podman', isThere('podman', 'info')],
    ['podman-compose', isThere('podman-compose', '--version')],
    ['kubectl', isThere('kubectl', 'version', '--client')],
    ['openssl', isThere('openssl', 'version')],
  ].flatMap(([name, found]) => (found === true ? [] : [name]));
  if (missing.length === 0) return;
  throw new Error(`make deploy-test needs ${missing.join(', ')}: install them, and let this account run containers.`);
}

export function podman(...args: string[]): string {
  return execFileSync('podman', args, {
    encoding: 'utf8',
    maxBuffer: 1 << 26,
    stdio: ['ignore', 'pipe', 'pipe'],
  }).trim();
}

/**
 * Builds every image, with DEPLOY_TEST_BUILD_OPTIONS as options of `podman build`. With DEPLOY_TEST_IMAGES=kept the
 * existing images are used.
 */
export function buildImages(): void {
  if (process.env['DEPLOY_TEST_IMAGES'] === 'kept') return;
  const options = (process.env['DEPLOY_TEST_BUILD_OPTIONS'] ?? '').split(' ').filter((option) => option !== '');
  for (const target of images)
    podman(
      ...['build', '--format', 'docker', ...options, '--file', `${root}/infra/docker/Dockerfile`, '--target', target],
      ...['--tag', `localhost/countersign/${target}`, root],
    );
}

/** One installation of infra/compose, with its own folder and volumes. */
export class Installation {
  readonly folder: string;

  /**
   * `changes` apply to services of the compose file, by service name. `settings` are variables of the services, by file
   * name.
   */
  constructor(gatewayPort: number, changes: Record<string, object>, settings: Record<string, Record<string, string>>) {
    this.folder = join(mkdtempSync(join(tmpdir(), 'countersign-deploy-')), 'compose');
    cpSync(`${root}/infra/compose`, this.folder, { recursive: true });
    this.run('env', 'GOV_LOG_ORIGIN=deployed.example.org/log', 'sh', join(this.folder, 'init'));
    this.#set('.env', {
      POSTGRES_IMAGE: process.env['POSTGRES_IMAGE'] ?? 'docker.io/library/postgres:17',
      RABBITMQ_IMAGE: process.env['RABBITMQ_IMAGE'] ?? 'docker.io/library/rabbitmq:4',
      COUNTERSIGN_IMAGES: 'localhost/countersign',
      GATEWAY_PORT: String(gatewayPort),
    });
    for (const [file, more] of Object.entries(settings)) this.#set(file, more);
    // Podman before version 4.4 resolves no names in an internal network. With several networks it queries only one of
    // them.
    const file = join(this.folder, 'compose.yaml');
    const shipped = readFileSync(file, 'utf8').replace('internal: true', 'internal: false');
    const compose = parseDocument(shipped.replaceAll('[inside, outside]', '[inside]').replace('  outside: {}\n', ''));
    for (const [service, change] of Object.entries(changes))
      for (const [name, value] of Object.entries(change)) compose.setIn(['services', service, name], value);
    writeFileSync(file, String(compose));
  }

  /** Starts the containers in order and waits for each, because older versions of podman-compose do not wait. */
  async up(): Promise<void> {
    for (const server of servers) {
      this.compose('up', '--detach', server);
      await this.healthy(server);
    }
    for (const job of jobs) this.runJob(job);
    for (const service of services) {
      this.compose('up', '--detach', '--no-deps', service);
      if (service !== 'gateway') await this.healthy(service);
    }
    await this.healthy('gateway');
  }

  runJob(job: (typeof jobs)[number]): void {
    this.compose('up', '--detach', '--no-deps', job);
    const status = podman('wait', this.idOf(job));
    if (status !== '0') throw new Error(`${job} ended with ${status}: ${podman('logs', this.idOf(job))}`);
    podman('rm', this.idOf(job));
  }

  down(...options: string[]): void {
    this.compose('down', ...options);
  }

  remove(): void {
    this.down('--volumes');
    rmSync(this.folder, { recursive: true, force: true });
  }

  compose(...args: string[]): string {
    return this.run('podman-compose', '--project-name', project, '--file', 'compose.yaml', ...args);
  }

  /** Runs a command in the folder of the installation. */
  run(command: string, ...args: string[]): string {
    const ran = spawnSync(command, args, { cwd: this.folder, encoding: 'utf8' });
    if (ran.status !== 0) throw new Error(`${command} ${args.join(' ')}: ${ran.stdout}${ran.stderr}`);
    return ran.stdout;
  }

  idOf(container: Container): string {
    const filters = [`com.docker.compose.project=${project}`, `com.docker.compose.service=${container}`];
    const id = podman('ps', '--all', '--quiet', ...filters.flatMap((label) => ['--filter', `label=${label}`]));
    if (id === '') throw new Error(`There is no container of ${container}.`);
    return id.split('\n')[0] ?? '';
  }

  isHealthy(container: Container): boolean {
    return spawnSync('podman', ['healthcheck', 'run', this.idOf(container)]).status === 0;
  }

  async healthy(container: Container): Promise<void> {
    const deadline = Date.now() + 120_000;
    while (!this.isHealthy(container)) {
      // Ends a wait that would otherwise never end.
      if (Date.now() > deadline) throw new Error(`${container} is not healthy: ${this.logsOf(container)}`);
      await new Promise((resolve) => setTimeout(resolve, 500)); // between two checks of the state
    }
  }

  logsOf(container: Container): string {
    const { stdout, stderr } = spawnSync('podman', ['logs', '--tail', '20', this.idOf(container)], {
      encoding: 'utf8',
    });
    return stdout + stderr;
  }

  /** Runs this script in the container and returns its output. */
  script(container: Container, source: string): string {
    return podman('exec', this.idOf(container), 'node', '--eval', source);
  }

  secret(name: string): string {
    return readFileSync(join(this.folder, 'secrets', name), 'utf8').trim();
  }

  #set(file: string, variables: Record<string, string>): void {
    const path = join(this.folder, file);
    const isKept = (line: string) => !Object.keys(variables).some((name) => line.startsWith(`${name}=`));
    const kept = readFileSync(path, 'utf8').split('\n').filter(isKept);
    const set = Object.entries(variables).map(([name, value]) => `${name}=${value}`);
    writeFileSync(path, `${[...kept, ...set].join('\n')}\n`, { mode: 0o600 });
  }
}
