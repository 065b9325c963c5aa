import { spawn } from 'node:child_process';
import { chownSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { installFirst, mayInstall } from './apt-get.mjs';

const localUrl = 'amqp://guest:guest@127.0.0.1:5672';
/** On a busy machine of two cores, a broker needs about 20 s until it accepts a connection. */
const startTimeoutMs = 180_000;
const pollMs = 250;
/** The first bytes of an AMQP 0-9-1 connection. A broker answers them with its Start frame. */
const protocolHeader = Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]);

const howToGetOne = `Start a RabbitMQ with any of these commands:
  apt-get install rabbitmq-server            (Debian, Ubuntu)
  brew install rabbitmq && brew services start rabbitmq
  docker run -d -p 127.0.0.1:5672:5672 rabbitmq:4
or set AMQP_URL to a broker of yours.`;

/**
 * The broker for tests: the one in AMQP_URL, else the one on the usual local port, else our own, which is installed if
 * the machine allows this. Our own has its data in `scratch` and shares neither name nor port with a broker of the
 * machine, so it starts also where that one hangs.
 */
export async function findRabbitmq(env, scratch, log) {
  if (env.AMQP_URL) return { url: env.AMQP_URL, stop: async () => {} };
  if (await answers(5672)) return { url: localUrl, stop: async () => {} };
  if (serverProgram() === undefined) install(log);
  log('Starting RabbitMQ');
  return startOwn(join(scratch, 'rabbitmq'));
}

function serverProgram() {
  // On Debian, the program in /usr/sbin is a wrapper that changes the account and the session.
  return [
    '/usr/lib/rabbitmq/bin/rabbitmq-server',
    '/usr/local/sbin/rabbitmq-server',
    '/opt/homebrew/sbin/rabbitmq-server',
  ].find((path) => existsSync(path));
}

function install(log) {
  if (!mayInstall()) throw new Error(`No RabbitMQ answers on 127.0.0.1:5672. ${howToGetOne}`);
  log('Installing RabbitMQ with apt-get');
  if (installFirst(['rabbitmq-server']) === undefined) throw new Error(`RabbitMQ was not installed. ${howToGetOne}`);
}

async function startOwn(folder) {
  const { freePort } = await import('../../infra/local/dist/ports.js');
  const [port, distributionPort] = [await freePort(), await freePort()];
  const account = process.getuid?.() === 0 ? accountOf('rabbitmq') : undefined;
  const settings = prepare(folder, account, port, distributionPort);
  // A process group of its own, since the program is a chain of shells.
  const broker = spawn(serverProgram(), [], {
    ...account,
    cwd: folder,
    env: { ...process.env, ...settings },
    stdio: 'ignore',
    detached: true,
  });
  const ended = once(broker, 'exit').catch(() => {});
  const end = () => kill(broker);
  process.once('exit', end);
  const deadline = Date.now() + startTimeoutMs;
  while (!(await answers(port))) {
    if (broker.exitCode !== null || broker.pid === undefined || Date.now() > deadline) {
      end();
      throw new Error(`RabbitMQ did not start. ${howToGetOne}\nIts log ends with:\n${endOfLog(settings)}`);
    }
    await delay(pollMs);
  }
  const stop = async () => {
    process.off('exit', end);
    // Its data are disposable, so nothing is lost by not waiting for a shutdown.
    end();
    await ended;
  };
  return { url: `amqp://guest:guest@127.0.0.1:${port}`, stop };
}

/** Like every server of the machine, it runs under its own account when we are root. */
function prepare(folder, account, port, distributionPort) {
  const plugins = join(folder, 'enabled_plugins');
  const config = join(folder, 'rabbitmq.conf');
  mkdirSync(folder);
  writeFileSync(plugins, '[].\n');
  writeFileSync(config, `listeners.tcp.local = 127.0.0.1:${port}\n`);
  if (account !== undefined) for (const path of [folder, plugins, config]) chownSync(path, account.uid, account.gid);
  return {
    RABBITMQ_NODENAME: `countersign-${port}@localhost`,
    RABBITMQ_DIST_PORT: String(distributionPort),
    RABBITMQ_CONFIG_FILE: config,
    RABBITMQ_ENABLED_PLUGINS_FILE: plugins,
    RABBITMQ_MNESIA_BASE: join(folder, 'data'),
    RABBITMQ_LOG_BASE: join(folder, 'log'),
    RABBITMQ_PID_FILE: join(folder, 'pid'),
    // Neither the settings nor the cookie of a broker of the machine.
    RABBITMQ_CONF_ENV_FILE: join(folder, 'rabbitmq-env.conf'),
    HOME: folder,
  };
}

function accountOf(name) {
  const line = readFileSync('/etc/passwd', 'utf8')
    .split('\n')
    .find((entry) => entry.startsWith(`${name}:`));
  if (line === undefined) return undefined;
  const [, , uid, gid] = line.split(':');
  return { uid: Number(uid), gid: Number(gid) };
}

function endOfLog({ RABBITMQ_NODENAME: node, RABBITMQ_LOG_BASE: folder }) {
  const path = join(folder, `${node}.log`);
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').slice(-20).join('\n') : '(no log was written)';
}

function kill(broker) {
  try {
    process.kill(-broker.pid, 'SIGKILL');
  } catch {
    // It has ended.
  }
}

function answers(port) {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port });
    const settle = (outcome) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.setTimeout(10_000, () => settle(false));
    socket.once('connect', () => socket.write(protocolHeader));
    socket.once('data', () => settle(true));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
  });
}
