import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { graphOf, type Rule } from './import-graph.ts';
import { readGraph, root, units } from './repository.ts';
import * as anatomy from './rules/anatomy.ts';

type Case = { guarantee: string; rule: Rule; offence: Record<string, string>; innocent: Record<string, string> };

const src = 'services/gateway/src';

/** Each rule with a minimal tree that breaks it. A rule that no longer finds anything fails here. */
const cases: Case[] = [
  {
    guarantee: 'a part has the same exports in every service',
    rule: anatomy.partsExportTheirNames,
    offence: { [`${src}/context.ts`]: `export type Kernel = object; export function createContext() {}` },
    innocent: {
      [`${src}/context.ts`]: `export type Context = object; export async function createContext() {}`,
      [`${src}/handle.ts`]: `export const handleTenant = createHandle('tenant_scoped');`,
    },
  },
  {
    guarantee: 'index.ts contains only exports',
    rule: anatomy.indexOnlyNamesExports,
    offence: { [`${src}/index.ts`]: `export function startGateway() {}` },
    innocent: { [`${src}/index.ts`]: `export { startGateway } from './start.ts';` },
  },
  {
    guarantee: 'creating a context starts no worker',
    rule: anatomy.contextStartsNoWorker,
    offence: { [`${src}/context.ts`]: `import { startSweeper } from './workers/sweeper.ts';` },
    innocent: {
      [`${src}/context.ts`]: `import type { Sweeper } from './workers/sweeper.ts';`,
      [`${src}/start.ts`]: `import { startSweeper } from './workers/sweeper.ts';`,
    },
  },
  {
    guarantee: 'only config.ts names environment variables',
    rule: anatomy.onlyConfigKnowsVariables,
    offence: { [`${src}/app.ts`]: `const origins = config.GOV_ALLOWED_ORIGINS;` },
    innocent: {
      [`${src}/config.ts`]: `const origins = read.GOV_ALLOWED_ORIGINS;`,
      [`${src}/app.ts`]: `/** GOV_ALLOWED_ORIGINS, by its meaning. */ const origins = config.allowedOrigins;`,
    },
  },
  {
    guarantee: 'main.ts and start.ts use the skeleton of service-kit, and no file repeats its steps',
    rule: anatomy.startsBySkeleton,
    offence: {
      [`${src}/start.ts`]: `export const startGateway = (app) => serveHttp(app, { port: 1 });`,
      [`${src}/main.ts`]: `await runService({ log, start });`,
    },
    innocent: {
      [`${src}/start.ts`]: `export const startGateway = (config) => startStandardService({ config });`,
      [`${src}/main.ts`]: `await runStandardService({ name: 'gateway', start });`,
    },
  },
  {
    guarantee: 'only events.ts creates events',
    rule: anatomy.onlyEventsMakesEvents,
    offence: { [`${src}/routes/a.ts`]: `await recordEvents(tx, [context.newEvent(taskCreated, data)]);` },
    innocent: {
      [`${src}/events.ts`]: `await recordEvents(tx, [newEvent(taskCreated, data)]);`,
      [`${src}/routes/a.ts`]: `await publishTaskCreated(tx, context, place);`,
    },
  },
];

const services = units().filter((unit) => unit.startsWith('services/'));
const graph = readGraph();
const offences = new Map(cases.map(({ rule }) => [rule, rule(graph)]));

describe.each(services)('the anatomy of %s', (service) => {
  it('has every part', () => {
    expect(anatomy.pieces.filter((chunk) => !existsSync(join(root, service, chunk)))).toEqual([]);
  });

  for (const { guarantee, rule } of cases)
    it(guarantee, () => {
      expect(offences.get(rule)?.filter((offence) => offence.startsWith(`${service}/`))).toEqual([]);
    });
});

describe('the rules of the anatomy', () => {
  it.each(cases)('find a tree that breaks them: $guarantee', ({ rule, offence, innocent }) => {
    expect(rule(graphOf(offence))).not.toEqual([]);
    expect(rule(graphOf(innocent))).toEqual([]);
  });
});
