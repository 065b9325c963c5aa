// Packs the commands for users without a checkout. Each package contains the workspace packages that it uses, and
// depends only on public packages. Run after `make build`. Writes `dist/packages/<name>.tgz`.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const out = join(root, 'dist/packages');
const { build } = await import(pathToFileURL(join(root, 'packages/report/node_modules/vite/dist/node/index.js')).href);

/** `entries` are files of the build. `copied` lists files that the package reads in addition to its code. */
const packages = [
  {
    folder: 'packages/verifier',
    entries: ['dist/cli.js', 'dist/index.js'],
    exports: { '.': './dist/index.js' },
    copied: {},
  },
  {
    folder: 'packages/cli',
    entries: ['dist/main.js'],
    exports: {},
    copied: { 'packages/report/dist/bundle': 'dist/bundle' },
  },
];

/**
 * The bundler compiles a tagged template with `</script>` to a call of this helper, which is not in our public
 * dependencies.
 */
const tagHelper = '@oxc-project/runtime/helpers/taggedTemplateLiteral';
const taggedTemplates = {
  name: 'tagged-templates',
  resolveId: (id) => (id === tagHelper ? `\0${tagHelper}` : null),
  load: (id) =>
    id === `\0${tagHelper}`
      ? 'export default (strings, raw) => Object.freeze(Object.defineProperty(strings, "raw", { value: Object.freeze(raw ?? [...strings]) }));'
      : null,
};

/**
 * The versions of public packages, from the manifests of workspace packages. Each public package has one version in the
 * lock file.
 */
const versions = new Map(
  // Includes the kernel, because the command line bundles it as its local boundary.
  [
    'contracts',
    'services/governance-kernel',
    ...readdirSync(join(root, 'packages'), { withFileTypes: true }).flatMap(packageFolder),
  ].flatMap((folder) => Object.entries(manifestOf(folder).dependencies ?? {})),
);

rmSync(out, { recursive: true, force: true });
for (const each of packages) await pack(each);

async function pack({ folder, entries, exports, copied }) {
  const { name, version, description, license, type, engines, bin } = manifestOf(folder);
  const staged = join(out, 'staged', name.replace('@countersign/', ''));
  const imported = await bundle(join(root, folder), entries, join(staged, 'dist'));
  const dependencies = Object.fromEntries(imported.map((each) => [each, versionOf(each)]));
  const files = ['dist', 'LICENSE', 'README.md'];
  const manifest = { name, version, description, license, type, engines, bin, exports, files, dependencies };
  writeFileSync(join(staged, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  cpSync(join(root, 'LICENSE'), join(staged, 'LICENSE'));
  cpSync(join(root, 'infra/packages/readmes', `${name.replace('@countersign/', '')}.md`), join(staged, 'README.md'));
  for (const [from, to] of Object.entries(copied)) cpSync(join(root, from), join(staged, to), { recursive: true });
  mkdirSync(out, { recursive: true });
  const [{ filename }] = JSON.parse(
    execFileSync('npm', ['pack', '--json', '--pack-destination', out], { cwd: staged, encoding: 'utf8' }),
  );
  process.stdout.write(`dist/packages/${filename}\n`);
}

/** Bundles the code of this repository. Resolves to the names of the public packages that it imports. */
async function bundle(folder, entries, outDir) {
  const { output } = await build({
    root: folder,
    configFile: false,
    logLevel: 'warn',
    ssr: { noExternal: [/^@countersign\//] },
    plugins: [taggedTemplates],
    build: {
      ...{
        ssr: true,
        outDir,
        emptyOutDir: true,
        target: 'esnext',
        minify: false,
        sourcemap: false,
        copyPublicDir: false,
      },
      rolldownOptions: {
        input: entries,
        external: (name) =>
          /^[\w@]/.test(name) && !name.startsWith('@countersign/') && !entries.includes(name) && name !== tagHelper,
        // Chunks are written beside the entries, because code finds its files relative to itself.
        output: { entryFileNames: '[name].js', chunkFileNames: '[name]-[hash].js' },
      },
    },
  });
  const own = new Set(output.map(({ fileName }) => fileName));
  const imports = output.flatMap((chunk) => [...(chunk.imports ?? []), ...(chunk.dynamicImports ?? [])]);
  const names = imports.filter((each) => !own.has(each) && !isBuiltin(each)).map(packageOf);
  return [...new Set(names)].sort();
}

function packageOf(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

function versionOf(name) {
  const version = versions.get(name);
  if (version === undefined) throw new Error(`No workspace package states a version of ${name}`);
  return version;
}

function packageFolder(entry) {
  return entry.isDirectory() ? [`packages/${entry.name}`] : [];
}

function manifestOf(folder) {
  return JSON.parse(readFileSync(join(root, folder, 'package.json'), 'utf8'));
}
