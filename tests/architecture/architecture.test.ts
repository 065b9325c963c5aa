import { describe, expect, it } from '@jest/globals';
import type { Rule } from './import-graph.ts';
import { graphOf } from './import-graph.ts';
import { readGraph } from './repository.ts';
import { consoleCallsItsRoutes } from './rules/console-routes.ts';
import * as directions from './rules/directions.ts';
import * as folders from './rules/folders.ts';
import * as places from './rules/places.ts';
import * as services from './rules/services.ts';

type Case = { guarantee: string; rule: Rule; offence: Record<string, string>; innocent?: Record<string, string> };

/** Each rule with a minimal tree that breaks it. A rule that no longer finds anything fails here. */
const cases: Case[] = [
  {
    guarantee: 'a unit imports only its listed units',
    rule: directions.onlyGivenUnits,
    offence: { 'packages/crypto/src/a.ts': `import type { Route } from '@countersign/contracts';` },
    innocent: { 'packages/policy/src/a.ts': `import { sha256 } from '@countersign/crypto';` },
  },
  {
    guarantee: 'contracts, crypto and receipts depend only on their listed libraries',
    rule: directions.onlyGivenLibraries,
    offence: { 'contracts/src/a.ts': `import { parse } from 'yaml';` },
    innocent: { 'contracts/src/a.ts': `import { z } from 'zod';` },
  },
  {
    guarantee: 'no package and no service imports a service, except its entries for the command line',
    rule: directions.noImportOfServices,
    offence: { 'services/gateway/src/a.ts': `import { startKernel } from '@countersign/governance-kernel';` },
    innocent: { 'infra/local/src/a.ts': `import { startKernel } from '@countersign/governance-kernel';` },
  },
  {
    guarantee: 'another package is imported only through its exports',
    rule: directions.noReachingAround,
    offence: { 'packages/policy/src/a.ts': `import { x } from '../../crypto/src/hex.ts';` },
  },
  {
    guarantee: 'imports at run time form no cycle',
    rule: directions.noCycles,
    offence: { 'packages/policy/src/a.ts': `import './b.ts';`, 'packages/policy/src/b.ts': `export * from './a.ts';` },
    innocent: {
      'packages/policy/src/a.ts': `import type { B } from './b.ts';`,
      'packages/policy/src/b.ts': `import './a.ts';`,
    },
  },
  {
    guarantee: 'folders form no cycle, types included',
    rule: folders.noFolderCycles,
    offence: {
      'services/gateway/src/runs/a.ts': `import type { B } from '../spend/b.ts';`,
      'services/gateway/src/spend/b.ts': `import { c } from '../tasks/c.ts';`,
      'services/gateway/src/tasks/c.ts': `import { d } from '../runs/d.ts';`,
    },
    innocent: {
      'services/gateway/src/runs/a.ts': `import type { B } from '../spend/b.ts'; import type { Context } from '../context.ts';`,
      'services/gateway/src/context.ts': `import { a } from './runs/a.ts';`,
      'services/gateway/src/runs/d.ts': `import { a } from './a.ts';`,
      'packages/policy/src/spend/b.ts': `import type { A } from '../runs/a.ts';`,
    },
  },
  {
    guarantee: 'folders inside a folder form no cycle',
    rule: folders.noFolderCycles,
    offence: {
      'services/gateway/src/controls/runs/a.ts': `import type { B } from '../spend/b.ts';`,
      'services/gateway/src/controls/spend/b.ts': `import { c } from '../runs/c.ts';`,
    },
    innocent: {
      'services/gateway/src/controls/runs/a.ts': `import type { B } from '../spend/b.ts';`,
      'services/gateway/src/controls/spend/b.ts': `import { c } from './c.ts';`,
    },
  },
  {
    guarantee: 'folders with their inner folders form no cycle',
    rule: folders.noFolderCycles,
    offence: {
      'services/gateway/src/controls/runs/a.ts': `import type { B } from '../../doors/spend/b.ts';`,
      'services/gateway/src/doors/tasks/b.ts': `import { c } from '../../controls/lanes/c.ts';`,
    },
    innocent: {
      'services/gateway/src/controls/runs/a.ts': `import type { B } from '../../doors/spend/b.ts';`,
      'services/gateway/src/doors/tasks/b.ts': `import { c } from '../spend/c.ts';`,
    },
  },
  {
    guarantee: 'domain code of the kernel does not run the store',
    rule: services.domainIsHandedItsCollaborators,
    offence: {
      'services/governance-kernel/src/decision/facts.ts': `import { findBudget } from '../store/budgets.ts';`,
    },
    innocent: {
      'services/governance-kernel/src/decision/facts.ts': `import type { Row } from '../store/budgets.ts'; import { id } from '../ids.ts';`,
      'services/governance-kernel/src/workers/sweep.ts': `import { listOpen } from '../store/dispatches.ts';`,
      'services/gateway/src/tasks/make-task.ts': `import { insertTask } from '../store/tasks.ts';`,
    },
  },
  {
    guarantee: 'domain code of every service runs no operation',
    rule: services.domainIsHandedItsCollaborators,
    offence: {
      'services/gateway/src/lanes/put-lane.ts': `import { workOnRun } from '../orchestrator/work-on-run.ts';`,
    },
    innocent: {
      'services/gateway/src/lanes/put-lane.ts': `import type { Run } from '../orchestrator/work-on-run.ts';`,
      'services/gateway/src/workers/sweep.ts': `import { workOnRun } from '../orchestrator/work-on-run.ts';`,
    },
  },
  {
    guarantee: 'domain code of every service receives the parts of the context that it uses',
    rule: services.domainIsHandedItsCollaborators,
    offence: {
      'services/gateway/src/lanes/put-lane.ts': `import type { Context } from '../context.ts'; export function putLane(context: Context) {}`,
    },
    innocent: {
      'services/gateway/src/lanes/put-lane.ts': `import type { Context } from '../context.ts'; export function putLane({ now }: Pick<Context, 'now'>, config: Context['config']) {}`,
      'services/gateway/src/routes/runs/put-lane.ts': `import type { Context } from '../../context.ts'; export function putLaneRoute(context: Context) {}`,
    },
  },
  {
    guarantee: 'only wiring runs wiring',
    rule: services.onlyWiringKnowsWiring,
    offence: { 'services/gateway/src/routes/a.ts': `import { createContext } from '../context.ts';` },
    innocent: {
      'services/gateway/src/routes/a.ts': `import type { Context } from '../context.ts';`,
      'services/gateway/src/start.ts': `import { createContext } from './context.ts';`,
    },
  },
  {
    guarantee: 'no route calls another route',
    rule: services.routesAreLeaves,
    offence: { 'services/gateway/src/routes/a.ts': `import { b } from './b.ts';` },
    innocent: { 'services/gateway/src/app.ts': `import { b } from './routes/b.ts';` },
  },
  {
    guarantee: 'the store runs only pure rules',
    rule: services.storeRunsOnlyPureRules,
    offence: {
      'services/gateway/src/store/tasks.ts': `import { move } from '../tasks/moves.ts';`,
      'services/gateway/src/tasks/moves.ts': `import { later } from './later.ts';`,
      'services/gateway/src/tasks/later.ts': `import { setTimeout } from 'node:timers/promises';`,
    },
    innocent: {
      'services/gateway/src/store/tasks.ts': `import { move } from '../tasks/moves.ts'; import type { Job } from '../tasks/job.ts';`,
      'services/gateway/src/tasks/moves.ts': `import { canonicalize } from '@countersign/crypto';`,
      'services/gateway/src/tasks/job.ts': `import { readFile } from 'node:fs';`,
    },
  },
  {
    guarantee: 'the console lists only routes that its pages call',
    rule: consoleCallsItsRoutes,
    offence: {
      'packages/console/src/api/routes.ts': `export const personRoutes = { getMe, listTasks };`,
      'packages/console/src/you/page.tsx': `export const Page = () => person.getMe();`,
    },
    innocent: {
      'packages/console/src/api/routes.ts': `export const personRoutes = { getMe, listTasks };`,
      'packages/console/src/you/page.tsx': `const { listTasks } = person; export const Page = () => person.getMe();`,
    },
  },
  {
    guarantee: 'only the dispatch can call a model server directly',
    rule: services.onlyDispatchReachesUpstreams,
    offence: {
      'services/governance-kernel/src/doors/chat/complete-chat.ts': `import { createModelUpstream } from './model-upstream.ts';`,
    },
    innocent: {
      'services/governance-kernel/src/doors/chat/complete-chat.ts': `import type { UpstreamAnswer } from './model-upstream.ts';`,
      'services/governance-kernel/src/upstreams.ts': `import { createModelUpstream } from './chat/model-upstream.ts';`,
    },
  },
  {
    guarantee: 'only the dispatch can call an upstream',
    rule: services.onlyDispatchReachesUpstreams,
    offence: { 'services/governance-kernel/src/routes/a.ts': `import { request } from 'undici';` },
    innocent: { 'services/governance-kernel/src/doors/chat/model-upstream.ts': `import { Pool } from 'undici';` },
  },
  {
    guarantee: 'only config.ts reads the environment',
    rule: places.onlyConfigReadsEnvironment,
    offence: { 'services/gateway/src/main.ts': `const port = process.env['PORT'];` },
    innocent: { 'services/gateway/src/config.ts': `const port = process.env['PORT'];` },
  },
  {
    guarantee: 'only the store imports Prisma',
    rule: places.onlyStoreImportsPrisma,
    offence: { 'services/gateway/src/routes/a.ts': `import { Prisma } from '../generated/prisma/client.ts';` },
    innocent: { 'services/gateway/src/store/a.ts': `import { Prisma } from '../generated/prisma/client.ts';` },
  },
  {
    guarantee: 'only the store of the ledger imports the bare driver of PostgreSQL',
    rule: places.onlyLedgerImportsDriver,
    offence: { 'services/governance-kernel/src/store/log-store.ts': `import type pg from 'pg';` },
    innocent: {
      'services/governance-kernel/src/store/ledger-store.ts': `import type pg from 'pg';`,
      'packages/database/src/open-database.ts': `import pg from 'pg';`,
    },
  },
  {
    guarantee: 'only the store of a service speaks SQL',
    rule: places.onlyStoreSpeaksSql,
    offence: { 'services/gateway/src/routes/a.ts': 'export const ask = (reader) => reader.$queryRaw`SELECT 1`;' },
    innocent: { 'services/gateway/src/store/a.ts': 'export const ask = (reader) => reader.$queryRaw`SELECT 1`;' },
  },
  {
    guarantee: 'only app.ts and service-kit import Express',
    rule: places.onlyAppImportsExpress,
    offence: { 'services/gateway/src/routes/a.ts': `import type { Request } from 'express';` },
    innocent: { 'services/gateway/src/app.ts': `import express from 'express';` },
  },
  {
    guarantee: 'only messaging imports amqplib',
    rule: places.onlyMessagingImportsAmqp,
    offence: { 'services/gateway/src/context.ts': `import { connect } from 'amqplib';` },
  },
  {
    guarantee: 'only one file parses YAML',
    rule: places.onlyOneFileReadsYaml,
    offence: { 'packages/policy/src/a.ts': `import { isMap, parseDocument as read } from 'yaml';` },
    innocent: {
      'packages/policy/src/a.ts': `import { isMap, visit } from 'yaml';`,
      'packages/policy/src/read-yaml.ts': `import { Composer } from 'yaml';`,
    },
  },
  {
    guarantee: 'only one file parses YAML, even through a namespace import',
    rule: places.onlyOneFileReadsYaml,
    offence: { 'services/gateway/src/a.ts': `import * as yaml from 'yaml';` },
  },
  {
    guarantee: 'only context.ts of a service constructs clients',
    rule: places.onlyContextConstructsClients,
    offence: {
      'services/gateway/src/store/pool.ts': `import pg from 'pg'; export const createPool = () => new pg.Pool({});`,
      'services/gateway/src/routes/a.ts': `import { createPool } from '../store/pool.ts';`,
    },
    innocent: {
      'services/gateway/src/store/pool.ts': `import pg from 'pg'; export const createPool = () => new pg.Pool({});`,
      'services/gateway/src/context.ts': `import { createPool } from './store/pool.ts';`,
    },
  },
  {
    guarantee: 'only the kernel, the test kit and the command line can sign',
    rule: places.onlyKernelSigns,
    offence: { 'services/gateway/src/context.ts': `import { createSigner } from '@countersign/crypto/signing';` },
    innocent: {
      'services/governance-kernel/src/context.ts': `import { createSigner } from '@countersign/crypto/signing';`,
    },
  },
  {
    guarantee: 'portable packages use no module of Node',
    rule: places.portableUsesNoNode,
    offence: { 'packages/verifier/src/a.ts': `import { readFile } from 'node:fs/promises';` },
    innocent: { 'packages/verifier/src/run-cli.ts': `import { readFile } from 'node:fs/promises';` },
  },
  {
    guarantee: 'a portable entry imports no Node entry',
    rule: places.nodeEntriesStayApart,
    offence: { 'packages/verifier/src/index.ts': `export { nodeProvider } from '@countersign/crypto/node';` },
    innocent: { 'packages/verifier/src/run-cli.ts': `import { nodeProvider } from '@countersign/crypto/node';` },
  },
  {
    guarantee: 'no production code imports test material',
    rule: places.sourceImportsNoTestkit,
    offence: {
      'services/gateway/src/a.ts': `import { startModel } from '@countersign/testkit';`,
      'services/gateway/src/b.ts': `import { minimalBody } from '@countersign/contracts/testing';`,
    },
    innocent: { 'infra/local/src/a.ts': `import { startModel } from '@countersign/testkit';` },
  },
];

const graph = readGraph();

describe('architecture', () => {
  it.each(cases)('$guarantee', ({ rule }) => {
    expect(rule(graph)).toEqual([]);
  });

  it.each(cases)('finds a tree that breaks the rule: $guarantee', ({ rule, offence, innocent }) => {
    expect(rule(graphOf(offence))).not.toEqual([]);
    expect(rule(graphOf(innocent ?? {}))).toEqual([]);
  });

  it('reads the sources of the repository', () => {
    expect(graph.files.length).toBeGreaterThan(50);
    expect(graph.edges.length).toBeGreaterThan(graph.files.length);
  });
});
