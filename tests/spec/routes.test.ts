import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { committedFiles, openApiText, routesByService } from '@countersign/contracts/openapi';
import { configurationPage } from '@countersign/local';
import { root } from '../architecture/repository.ts';
import { documented } from './documented-routes.ts';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

describe('the page of all variables', () => {
  it('is what the schemas say that the environment is read by', () => {
    expect(readFileSync(join(root, 'docs/reference/configuration.md'), 'utf8')).toBe(configurationPage());
  });
});

describe('contracts', () => {
  it.each(routesByService)('of $name hold every documented route with its auth class', ({ name, routes }) => {
    // The document has a class of its own for what the contracts hold to presence.
    const classOf = ({ auth, needsPresence }: (typeof routes)[number]) =>
      auth === 'session' && needsPresence === true ? 'session_reauth' : auth;
    const held = routes.map((route) => [route.method, route.path, classOf(route)]);
    const expected = documented[name];
    expect(expected.filter((row) => !held.some((route) => route.join(' ') === row.join(' ')))).toEqual([]);
  });

  it.each(routesByService)('of $name name each operation and each method and path once', ({ routes }) => {
    const operations = routes.map(({ operation }) => operation);
    const places = routes.map(({ method, path }) => `${method} ${path.replaceAll(/\{[^}]+\}/g, '{}')}`);
    expect(new Set(operations).size).toBe(operations.length);
    expect(new Set(places).size).toBe(places.length);
  });

  it.each(Object.entries(committedFiles(sha256)))('the committed %s is what the contracts generate', (path, text) => {
    expect(readFileSync(join(root, path), 'utf8')).toBe(text);
  });

  it('describe each body of a status that answers with a reply and with an error', () => {
    type Described = { paths: Record<string, Record<string, { responses: Record<string, { content: object }> }>> };
    const { paths } = JSON.parse(openApiText('governance-kernel')) as Described; // as OpenAPI has it
    const refused = paths['/mcp/v1/execute']?.['post']?.responses['403'];
    const anyOf = ['McpExecution', 'ErrorEnvelope'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
    expect(refused?.content).toEqual({ 'application/json': { schema: { anyOf } } });
    expect(refused).toMatchObject({ headers: { 'Idempotency-Replayed': {} } });
  });
});
