// Measures the decision path against bare floors, in one run on one machine. The absolute figures depend on the
// machine, so compare only ratios. Both sides of a ratio take turns, so that other load affects both. Usage:
// TEST_DATABASE_URL=… AMQP_URL=… node dist/run.js [--quick] [--profile] [--only <ratio>]
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { prepareBench } from './bench.ts';
import { closingAfter } from './closing.ts';
import { compare, nothingCompared, type Compared } from './compare.ts';
import { comparisons } from './comparisons.ts';
import { readMachine } from './machine.ts';
import { paceOf, parseOptions, usage, type Options } from './options.ts';
import { ratioDefinitions, ratiosOf, sidesOf } from './ratios.ts';
import { checkText, measurementTable, mediansOf, profileText, ratioTable, type MemberReport } from './report.ts';
import { resultOf } from './result.ts';

const resultFile = fileURLToPath(new URL('../latest.json', import.meta.url));

const options = optionsOrExit();
report(await measureAll(options), options);

function optionsOrExit(): Options {
  try {
    return parseOptions(
      process.argv.slice(2),
      ratioDefinitions.map(({ name }) => name),
    );
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n${usage}\n`);
    process.exit(2);
  }
}

async function measureAll(options: Options) {
  const startedAt = performance.now();
  const wanted = membersOf(options);
  const all = nothingCompared();
  const pace = paceOf(options);
  const machine = await closingAfter(async (closing) => {
    const bench = await prepareBench(closing, { amqpUrl: brokerOrExit(), queuedRuns: pace.queuedRuns });
    for (const comparison of comparisons) {
      const names = comparison.groups.flat().filter((name) => wanted.has(name));
      if (names.length === 0) continue;
      process.stderr.write(`Measuring ${names.join(', ')}\n`);
      add(all, await compare(bench, comparison, { wanted, pace, profiles: options.profiles }));
    }
    return await readMachine(bench.seed.adminUrl);
  });
  return { ...all, machine, seconds: Math.round((performance.now() - startedAt) / 1_000) };
}

/** The broker of the queue in which runs wait, as in production. */
function brokerOrExit(): string {
  const { AMQP_URL: amqpUrl } = process.env;
  if (amqpUrl !== undefined) return amqpUrl;
  process.stderr.write('AMQP_URL is missing. Run tests/runner/run-tests.mjs --bench, which finds a broker.\n');
  process.exit(2);
}

/** Both sides of every requested ratio. */
function membersOf({ only }: Options): Set<string> {
  const wanted = ratioDefinitions.filter(({ name, isOnDemand = false }) =>
    only.length === 0 ? !isOnDemand : only.includes(name),
  );
  return new Set(wanted.flatMap(sidesOf));
}

function add(all: Compared, { windows, warmUps, profiles, checks, runChecks }: Compared): void {
  for (const [name, list] of windows) all.windows.set(name, list);
  for (const [name, warm] of warmUps) all.warmUps.set(name, warm);
  for (const [name, profile] of profiles) all.profiles.set(name, profile);
  all.checks.push(...checks);
  all.runChecks.push(...runChecks);
}

function report(measured: Awaited<ReturnType<typeof measureAll>>, options: Options): void {
  const { windows, warmUps, profiles, checks, runChecks, machine, seconds } = measured;
  const members = new Map(
    [...windows].map(([name, list]): [string, MemberReport] => [
      name,
      { ...mediansOf(list), warmUp: warmUps.get(name) ?? null },
    ]),
  );
  const isWanted = (name: string) => options.only.length === 0 || options.only.includes(name);
  const ratios = ratiosOf(windows).filter(({ name }) => isWanted(name));
  const result = resultOf({ machine, seconds, pace: paceOf(options), members, ratios, profiles, checks, runChecks });
  // A run with only some ratios is printed and not stored. The file contains complete runs only.
  if (options.only.length === 0) writeFileSync(resultFile, `${JSON.stringify(result, null, 2)}\n`);
  const pieces = [
    measurementTable(members),
    ratioTable(ratios, members),
    ...[...profiles].map(([name, profile]) => profileText(name, profile)),
    checkText({ checks, runChecks }),
    `Took ${seconds} s.`,
  ];
  process.stdout.write(`${pieces.join('\n\n')}\n`);
}
