// Measures the decision path against bare floors, in one run on one machine. The absolute figures depend on the
// machine, so compare only ratios. Both sides of a ratio take turns, so that other load affects both. Usage:
// TEST_DATABASE_URL=… AMQP_URL=… node dist/run.js [--quick] [--profile] [--only <ratio>] [--against <commit>]
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { compareAgainst } from './against.ts';
import { prepareBench } from './bench.ts';
import { closingAfter } from './closing.ts';
import { compare, nothingCompared, type Compared } from './compare.ts';
import { comparisons } from './comparisons.ts';
import { readMachine } from './machine.ts';
import { paceOf, parseOptions, usage, type Options } from './options.ts';
import { ratioDefinitions, ratiosOf, sidesOf } from './ratios.ts';
import {
  changeTable,
  checkText,
  machineText,
  measurementTable,
  memberReport,
  profileText,
  ratioTable,
} from './report.ts';
import { resultOf } from './result.ts';

const resultFile = fileURLToPath(new URL('../latest.json', import.meta.url));

const options = optionsOrExit();
if (options.against === null) report(await measureAll(options), options);
else await reportChange(options.against, options);

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

async function reportChange(commit: string, { only, ...pace }: Options): Promise<void> {
  const isWanted = (load: string) => only.length === 0 || only.some((name) => name.startsWith(`${load}_`));
  const compared = await compareAgainst(commit, { pace: paceOf({ only, ...pace }), amqpUrl: brokerOrExit(), isWanted });
  process.stdout.write(`${changeTable(compared)}\n`);
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

function add(all: Compared, { openings, profiles, checks, runChecks }: Compared): void {
  for (const [name, list] of openings) all.openings.set(name, list);
  for (const [name, profile] of profiles) all.profiles.set(name, profile);
  all.checks.push(...checks);
  all.runChecks.push(...runChecks);
}

function report(measured: Awaited<ReturnType<typeof measureAll>>, options: Options): void {
  const { openings, profiles, checks, runChecks, machine, seconds } = measured;
  const members = new Map([...openings].map(([name, list]) => [name, memberReport(list)] as const));
  const isWanted = (name: string) => options.only.length === 0 || options.only.includes(name);
  const ratios = ratiosOf(openings).filter(({ name }) => isWanted(name));
  const result = resultOf({ machine, seconds, pace: paceOf(options), members, ratios, profiles, checks, runChecks });
  // A run with only some ratios is printed and not stored. The file contains complete runs only.
  if (options.only.length === 0) writeFileSync(resultFile, `${JSON.stringify(result, null, 2)}\n`);
  const pieces = [
    machineText(machine),
    measurementTable(members),
    ratioTable(ratios, members),
    ...[...profiles].map(([name, profile]) => profileText(name, profile)),
    checkText({ checks, runChecks }),
    `Took ${seconds} s.`,
  ];
  process.stdout.write(`${pieces.join('\n\n')}\n`);
}
