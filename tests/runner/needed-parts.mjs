import { findBubblewrap } from './bubblewrap.mjs';
import { findChromium } from './chromium.mjs';
import { findPostgres } from './postgres.mjs';
import { findRabbitmq } from './rabbitmq.mjs';
import { serveSharedParts } from './shared-parts.mjs';

/**
 * The parts that tests need besides Node, as environment variables. All parts start together, before the first level
 * above `unit`. The servers and the shared parts may use the folder `scratch`.
 */
export function neededParts(scratch, log) {
  const closers = [];
  let started;
  const startServers = async () => {
    const rabbitmq = await findRabbitmq(process.env, scratch, log);
    closers.push(() => rabbitmq.stop());
    const postgres = await findPostgres(process.env, scratch);
    closers.push(() => postgres.stop());
    return { ...process.env, TEST_DATABASE_URL: postgres.url, AMQP_URL: rabbitmq.url };
  };
  const startAll = async () => {
    const servers = await startServers();
    const bwrapPath = findBubblewrap(process.env, log);
    const chromiumPath = findChromium(process.env, log);
    const shared = await serveSharedParts(scratch, chromiumPath);
    closers.push(() => shared.close());
    return {
      ...servers,
      CHROMIUM_PATH: chromiumPath,
      TEST_BWRAP_PATH: bwrapPath,
      COUNTERSIGN_TEST_PARTS: shared.socket,
    };
  };
  return {
    bench: async () => ({ ...(await startServers()), TEST_BWRAP_PATH: findBubblewrap(process.env, log) }),
    of: (level) => (level === 'unit' ? process.env : (started ??= startAll())),
    close: async () => {
      for (const close of closers.reverse()) await close();
    },
  };
}
