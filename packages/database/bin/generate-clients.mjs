// Generates the Prisma client of every service that has a schema, without network access. A service is skipped while
// its schema and its Prisma version are unchanged. Usage: node packages/database/bin/generate-clients.mjs [serviceDir…]
// (default: services/*)
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../../..', import.meta.url));
const named = process.argv.slice(2).map((dir) => resolve(dir));
const all = readdirSync(join(root, 'services')).map((name) => join(root, 'services', name));

for (const serviceDir of named.length > 0 ? named : all) generate(serviceDir);

function generate(serviceDir) {
  const schema = join(serviceDir, 'prisma', 'schema.prisma');
  if (!existsSync(schema)) return;
  const prisma = findPrisma(serviceDir);
  const output = join(serviceDir, 'src', 'generated', 'prisma');
  const stamp = join(output, '.schema-hash');
  const hash = createHash('sha256').update(readFileSync(prisma.manifest)).update(readFileSync(schema)).digest('hex');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === hash) return;
  rmSync(output, { recursive: true, force: true });
  execFileSync(process.execPath, [prisma.script, 'generate', '--schema', schema, '--no-hints'], {
    cwd: serviceDir,
    stdio: ['ignore', 'ignore', 'inherit'],
    // Generation needs only WebAssembly, but Prisma downloads its native engine unless this variable names an
    // executable.
    env: { ...process.env, PRISMA_SCHEMA_ENGINE_BINARY: process.execPath, CHECKPOINT_DISABLE: '1' },
  });
  writeFileSync(stamp, hash);
  console.log(`generated the Prisma client of ${serviceDir.slice(root.length)}`);
}

// Finds the Prisma package of the service. Tests use service folders outside the workspace, which have no such package.
// For these folders, the package of any service is used.
function findPrisma(serviceDir) {
  for (const from of [serviceDir, ...all]) {
    try {
      const script = createRequire(join(from, 'package.json')).resolve('prisma/build/index.js');
      return { script, manifest: join(dirname(script), '..', 'package.json') };
    } catch {
      continue;
    }
  }
  throw new Error(`No Prisma found for ${serviceDir}: run the install first.`);
}
