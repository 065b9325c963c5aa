import { insertEvents } from '@countersign/messaging';
import type pg from 'pg';
import type { BudgetRow } from '../budgets/budget-row.ts';
import type { LedgerBatch } from '../ledger/batch.ts';
import { approvalParameters, writeApprovals } from './approval-columns.ts';
import { bigintArray, textArray } from './binary-array.ts';
import * as sql from './ledger-sql.ts';

type Write = { name: string; text: string; rows: number; values: () => unknown[] };

/**
 * Sends everything that the batch changed, without waiting in between; statements without rows are not sent. All parameters are
 * made before anything leaves, so that it sends everything or throws.
 */
export function sendBatch(client: pg.PoolClient, batch: LedgerBatch, now: Date): Promise<unknown>[] {
  const statements = writesOf(batch, now)
    .filter(({ rows }) => rows > 0)
    .map(({ name, text, values }) => ({ name: `ledger-${name}`, text, values: values() }));
  const events = batch.newEvents.length === 0 ? [] : [insertEvents(batch.newEvents)];
  return [...statements, ...events].map((statement) => client.query(statement));
}

function writesOf(batch: LedgerBatch, now: Date): Write[] {
  const approvals = [...new Set([...batch.newApprovals, ...batch.changedApprovals])];
  const budgets = [...batch.changedBudgets];
  const { newDispatches, changedDispatches, newAnswers, completedNodes } = batch;
  return [
    { name: 'budgets', text: sql.writeBudgets, rows: budgets.length, values: () => budgetParameters(budgets) },
    { name: 'approvals', text: writeApprovals, rows: approvals.length, values: () => approvalParameters(approvals) },
    { name: 'entries', text: sql.writeEntries, rows: batch.sealed.length, values: () => entryParameters(batch) },
    {
      name: 'nodes',
      text: sql.writeNodes,
      rows: completedNodes.length,
      values: () => [
        completedNodes.map((node) => node.level),
        completedNodes.map((node) => node.index),
        completedNodes.map((node) => Buffer.from(node.hash)),
      ],
    },
    {
      name: 'dispatches',
      text: sql.insertDispatches,
      rows: newDispatches.length,
      values: () => dispatchParameters(batch),
    },
    {
      name: 'settle',
      text: sql.settleDispatches,
      rows: changedDispatches.size,
      values: () => [[...changedDispatches].map(({ ulid }) => ulid), now],
    },
    {
      name: 'answers',
      text: sql.insertAnswers,
      rows: newAnswers.length,
      values: () => [...answerParameters(batch), now],
    },
    ...policyWrites(batch, now),
  ];
}

function policyWrites(batch: LedgerBatch, now: Date): Write[] {
  const { newPolicies, confirmedPolicies } = batch;
  return [
    {
      name: 'policies',
      text: sql.insertPolicies,
      rows: newPolicies.length,
      values: () => [...policyParameters(batch), now],
    },
    {
      name: 'activate',
      text: sql.activatePolicies,
      rows: newPolicies.length,
      values: () => [
        newPolicies.map((row) => row.tenant),
        newPolicies.map((row) => row.epoch),
        newPolicies.map((row) => row.hash),
        now,
      ],
    },
    {
      name: 'confirm',
      text: sql.confirmPolicies,
      rows: confirmedPolicies.length,
      values: () => [
        confirmedPolicies.map((row) => row.tenant),
        confirmedPolicies.map((row) => new Date(row.confirmedAtMs).toISOString()),
      ],
    },
  ];
}

function entryParameters({ sealed, changedHeads, log }: LedgerBatch): unknown[] {
  const heads = [...changedHeads.values()];
  const payloads = sealed.map((entry) => entry.payload);
  return [
    bigintArray(sealed.map((entry) => entry.logIndex)),
    textArray(sealed.map((entry) => entry.ulid)),
    textArray(payloads.map((payload) => payload.tenant_id)),
    textArray(payloads.map((payload) => payload.session_id)),
    bigintArray(payloads.map((payload) => payload.lamport_clock)),
    textArray(payloads.map((payload) => payload.principal_id)),
    textArray(payloads.map((payload) => payload.kind)),
    textArray(payloads.map((payload) => payload.verdict)),
    textArray(payloads.map((payload) => payload.reason_code)),
    textArray(payloads.map((payload) => payload.action)),
    textArray(payloads.map((payload) => payload.tool)),
    payloads.map((payload) => payload.issued_at),
    textArray(sealed.map((entry) => entry.receiptHash)),
    textArray(sealed.map((entry) => entry.payloadText)),
    textArray(sealed.map((entry) => entry.keyId)),
    textArray(sealed.map((entry) => entry.signature)),
    textArray(sealed.map((entry) => entry.recordText)),
    textArray(heads.map((head) => head.tenant)),
    textArray(heads.map((head) => head.session)),
    bigintArray(heads.map((head) => head.lamport)),
    textArray(heads.map((head) => head.receiptHash)),
    log.size,
    log.hashes.map((hash) => Buffer.from(hash)),
  ];
}

function budgetParameters(rows: BudgetRow[]): unknown[] {
  return [
    rows.map((row) => row.tenant),
    rows.map((row) => row.id),
    rows.map((row) => row.used.tool_calls),
    rows.map((row) => row.used.spend_minor),
    rows.map((row) => row.used.egress_bytes),
    rows.map((row) => row.used.writes),
    rows.map((row) => row.reserved.tool_calls),
    rows.map((row) => row.reserved.spend_minor),
    rows.map((row) => row.reserved.egress_bytes),
    rows.map((row) => row.reserved.writes),
    rows.map((row) => (row.resetsAtMs === null ? null : new Date(row.resetsAtMs).toISOString())),
  ];
}

function dispatchParameters({ newDispatches }: LedgerBatch): unknown[] {
  return [
    newDispatches.map((row) => row.ulid),
    newDispatches.map((row) => row.tenant),
    newDispatches.map((row) => row.state),
    newDispatches.map((row) => JSON.stringify(row.reservations)),
    newDispatches.map((row) => new Date(row.deadlineAtMs).toISOString()),
  ];
}

function answerParameters({ newAnswers }: LedgerBatch): unknown[] {
  return [
    newAnswers.map((row) => row.tenant),
    newAnswers.map((row) => row.principal),
    newAnswers.map((row) => row.route),
    newAnswers.map((row) => row.key),
    newAnswers.map((row) => row.fingerprint),
    newAnswers.map((row) => row.answer),
  ];
}

function policyParameters({ newPolicies }: LedgerBatch): unknown[] {
  return [
    newPolicies.map((row) => row.tenant),
    newPolicies.map((row) => row.epoch),
    newPolicies.map((row) => row.hash),
    newPolicies.map((row) => row.text),
    newPolicies.map((row) => row.keyId),
    newPolicies.map((row) => row.signature),
  ];
}
