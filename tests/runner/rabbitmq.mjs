import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

const localUrl = 'amqp://guest:guest@127.0.0.1:5672';
/** A broker on a busy machine of two cores needs about 20 s to its first connection. */
const startTimeoutMs = 120_000;
const pollMs = 500;
/** The first bytes of an AMQP 0-9-1 connection; a broker answers them with its Start frame. */
const protocolHeader = Buffer.from([0x41, 0x4d, 0x51, 0x50, 0, 0, 9, 1]);

const howToGetOne = `No RabbitMQ answers on 127.0.0.1:5672. Either of these gives you one:
  apt-get install rabbitmq-server            (Debian, Ubuntu)
  brew install rabbitmq && brew services start rabbitmq
  docker run -d -p 127.0.0.1:5672:5672 rabbitmq:4
or set AMQP_URL to a broker of yours.`;

/** The broker the tests use: the one AMQP_URL names, else a local one, which is started or installed when the machine allows. */
export async function findRabbitmq(env, log) {
  if (env.AMQP_URL) return env.AMQP_URL;
  if (await answers()) return localUrl;
  if (!installed()) install(log);
  log('Starting RabbitMQ');
  start();
  const deadline = Date.now() + startTimeoutMs;
  while (!(await answers())) {
    if (Date.now() > deadline) throw new Error(howToGetOne);
    await delay(pollMs);
  }
  return localUrl;
}

function installed() {
  return serverProgram() !== undefined;
}

function serverProgram() {
  return ['/usr/sbin/rabbitmq-server', '/usr/local/sbin/rabbitmq-server', '/opt/homebrew/sbin/rabbitmq-server'].find(
    (path) => existsSync(path),
  );
}

function install(log) {
  if (!mayInstall()) throw new Error(howToGetOne);
  log('Installing RabbitMQ with apt-get');
  if (installFirst(['rabbitmq-server']) === undefined) throw new Error(howToGetOne);
}

function start() {
  const program = serverProgram();
  if (program === undefined) throw new Error(howToGetOne);
  // Debian's program refuses everybody but root and its own account.
  const { status } = spawnSync(program, ['-detached'], { stdio: 'ignore' });
  if (status !== 0) throw new Error(howToGetOne);
}

function answers() {
  return new Promise((resolve) => {
    const socket = connect({ host: '127.0.0.1', port: 5672 });
    const settle = (outcome) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.setTimeout(2_000, () => settle(false));
    socket.once('connect', () => socket.write(protocolHeader));
    socket.once('data', () => settle(true));
    socket.once('error', () => settle(false));
    socket.once('close', () => settle(false));
  });
}
