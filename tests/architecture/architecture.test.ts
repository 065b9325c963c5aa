import { describe, expect, it } from '@jest/globals';
import type { Rule } from './import-graph.ts';
import { graphOf } from './import-graph.ts';
import { readGraph } from './repository.ts';
import * as directions from './rules/directions.ts';
import * as folders from './rules/folders.ts';
import * as places from './rules/places.ts';
import * as services from './rules/services.ts';

type Case = { guarantee: string; rule: Rule; offence: Record<string, string>; innocent?: Record<string, string> };

/** Each rule with a smallest tree that breaks it, so that a rule that stopped noticing fails here. */
const cases: Case[] = [
  {
    guarantee: 'a unit imports only the units it was given',
    rule: directions.onlyGivenUnits,
    offence: { 'packages/crypto/src/a.ts': `import type { Route } from '@countersign/contracts';` },
    innocent: { 'packages/policy/src/a.ts': `import { sha256 } from '@countersign/crypto';` },
  },
  {
    guarantee: 'contracts, crypto and receipts depend on their few libraries alone',
    rule: directions.onlyGivenLibraries,
    offence: { 'contracts/src/a.ts': `import { parse } from 'yaml';` },
    innocent: { 'contracts/src/a.ts': `import { z } from 'zod';` },
  },
  {
    guarantee: 'no package and no service imports a service',
    rule: directions.noImportOfServices,
    offence: { 'services/gateway/src/a.ts': `import { startKernel } from '@countersign/governance-kernel';` },
    innocent: { 'infra/local/src/a.ts': `import { startKernel } from '@countersign/governance-kernel';` },
  },
  {
    guarantee: 'only exports of a package are imported',
    rule: directions.noReachingAround,
    offence: { 'packages/policy/src/a.ts': `import { x } from '../../crypto/src/hex.ts';` },
  },
  {
    guarantee: 'no cycle of imports runs',
    rule: directions.noCycles,
    offence: { 'packages/policy/src/a.ts': `import './b.ts';`, 'packages/policy/src/b.ts': `export * from './a.ts';` },
    innocent: {
      'packages/policy/src/a.ts': `import type { B } from './b.ts';`,
      'packages/policy/src/b.ts': `import './a.ts';`,
    },
  },
  {
    guarantee: 'no cycle of folders, types included',
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
    guarantee: 'domain code of the kernel is handed its collaborators',
    rule: services.domainIsHandedItsCollaborators,
    offence: {
      'services/governance-kernel/src/boundary/facts.ts': `import { findBudget } from '../store/budgets.ts';`,
    },
    innocent: {
      'services/governance-kernel/src/boundary/facts.ts': `import type { Row } from '../store/budgets.ts'; import { id } from '../ids.ts';`,
      'services/governance-kernel/src/workers/sweep.ts': `import { listOpen } from '../store/dispatches.ts';`,
    },
  },
  {
    guarantee: 'only wiring knows wiring',
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
    guarantee: 'the store runs only rules that are pure',
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
    guarantee: 'only the dispatch is handed the bare call of a model server',
    rule: services.onlyDispatchReachesUpstreams,
    offence: {
      'services/governance-kernel/src/chat/complete-chat.ts': `import { createModelUpstream } from './model-upstream.ts';`,
    },
    innocent: {
      'services/governance-kernel/src/chat/complete-chat.ts': `import type { UpstreamAnswer } from './model-upstream.ts';`,
      'services/governance-kernel/src/upstreams.ts': `import { createModelUpstream } from './chat/model-upstream.ts';`,
    },
  },
  {
    guarantee: 'only the dispatch is handed the means to call an upstream',
    rule: services.onlyDispatchReachesUpstreams,
    offence: { 'services/governance-kernel/src/routes/a.ts': `import { request } from 'undici';` },
    innocent: { 'services/governance-kernel/src/chat/model-upstream.ts': `import { Pool } from 'undici';` },
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
    guarantee: 'one file reads YAML',
    rule: places.onlyOneFileReadsYaml,
    offence: { 'packages/policy/src/a.ts': `import { isMap, parseDocument as read } from 'yaml';` },
    innocent: {
      'packages/policy/src/a.ts': `import { isMap, visit } from 'yaml';`,
      'packages/policy/src/read-yaml.ts': `import { Composer } from 'yaml';`,
    },
  },
  {
    guarantee: 'only one file reads YAML, under whatever name',
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
    guarantee: 'only the kernel and the test kit can sign',
    rule: places.onlyKernelSigns,
    offence: { 'services/gateway/src/context.ts': `import { createSigner } from '@countersign/crypto/signing';` },
    innocent: {
      'services/governance-kernel/src/context.ts': `import { createSigner } from '@countersign/crypto/signing';`,
    },
  },
  {
    guarantee: 'portable packages use nothing of Node',
    rule: places.portableUsesNoNode,
    offence: { 'packages/verifier/src/a.ts': `import { readFile } from 'node:fs/promises';` },
    innocent: { 'packages/verifier/src/cli.ts': `import { readFile } from 'node:fs/promises';` },
  },
  {
    guarantee: 'the portable entries pull no Node entry in',
    rule: places.nodeEntriesStayApart,
    offence: { 'packages/verifier/src/index.ts': `export { nodeProvider } from '@countersign/crypto/node';` },
    innocent: { 'packages/verifier/src/cli.ts': `import { nodeProvider } from '@countersign/crypto/node';` },
  },
  {
    guarantee: 'no source imports test material',
    rule: places.sourceImportsNoTestkit,
    offence: { 'services/gateway/src/a.ts': `import { startModel } from '@countersign/testkit';` },
    innocent: { 'infra/local/src/a.ts': `import { startModel } from '@countersign/testkit';` },
  },
];

const graph = readGraph();

describe('architecture', () => {
  it.each(cases)('$guarantee', ({ rule }) => {
    expect(rule(graph)).toEqual([]);
  });

  it.each(cases)('a tree that breaks it is noticed: $guarantee', ({ rule, offence, innocent }) => {
    expect(rule(graphOf(offence))).not.toEqual([]);
    expect(rule(graphOf(innocent ?? {}))).toEqual([]);
  });

  it('reads the sources it judges', () => {
    expect(graph.files.length).toBeGreaterThan(50);
    expect(graph.edges.length).toBeGreaterThan(graph.files.length);
  });
});
