import { findBubblewrap } from './bubblewrap.mjs';
import { findChromium } from './chromium.mjs';
import { findPostgres } from './postgres.mjs';
import { findRabbitmq } from './rabbitmq.mjs';
import { serveSharedParts } from './shared-parts.mjs';

/**
 * The parts that tests need beside Node, as environment variables. Each part is brought when the first level needs it;
 * `scratch` is a folder for all of them.
 */
export function neededParts(scratch, log) {
  const closers = [];
  let started;
  const startServers = async () => {
    const amqpUrl = await findRabbitmq(process.env, log);
    const postgres = await findPostgres(process.env, scratch);
    closers.push(() => postgres.stop());
    return { ...process.env, TEST_DATABASE_URL: postgres.url, AMQP_URL: amqpUrl };
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
    servers: startServers,
    of: (level) => (level === 'unit' ? process.env : (started ??= startAll())),
    close: async () => {
      for (const close of closers.reverse()) await close();
    },
  };
}
