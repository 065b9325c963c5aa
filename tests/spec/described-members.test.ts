import { describe, expect, it } from '@jest/globals';
import { openApiText, routesByService } from '@countersign/contracts/openapi';

/** The members of a JSON Schema that this test reads. */
type Schema = {
  $ref?: string;
  description?: string;
  properties?: Record<string, Schema>;
  items?: Schema;
  additionalProperties?: Schema | boolean;
} & Partial<Record<'allOf' | 'anyOf' | 'oneOf', Schema[]>>;
type Content = { content?: Record<string, { schema: Schema }> };
type Operation = {
  operationId: string;
  parameters: { in: string; name: string; description?: string; schema: Schema }[];
  requestBody?: Content;
  responses: Record<string, Content>;
};
type Document = { components: { schemas: Record<string, Schema> }; paths: Record<string, Record<string, Operation>> };

/** The types, members and parameters that have no description, not even one of the type that they refer to. */
function undescribed({ components: { schemas }, paths }: Document): string[] {
  const isDescribed = (schema: Schema): boolean => {
    const referred = schemas[schema.$ref?.split('/').at(-1) ?? ''];
    const variants = [...(schema.anyOf ?? []), ...(schema.allOf ?? []), ...(schema.oneOf ?? [])];
    const inner = schema.items === undefined ? variants : [...variants, schema.items];
    return (schema.description ?? referred?.description ?? '') !== '' || inner.some(isDescribed);
  };
  const within = (schema: Schema, path: string): string[] => [
    ...Object.entries(schema.properties ?? {}).flatMap(([name, member]) => [
      ...(isDescribed(member) ? [] : [`${path}.${name}`]),
      ...within(member, `${path}.${name}`),
    ]),
    ...[...(schema.anyOf ?? []), ...(schema.allOf ?? []), ...(schema.oneOf ?? [])].flatMap((item) =>
      within(item, path),
    ),
    ...(schema.items === undefined ? [] : within(schema.items, path)),
    ...(typeof schema.additionalProperties === 'object' ? within(schema.additionalProperties, path) : []),
  ];
  const inContent = ({ content }: Content, path: string) =>
    Object.values(content ?? {}).flatMap(({ schema }) => within(schema, path));
  return [
    ...Object.entries(schemas).flatMap(([name, schema]) => [
      ...(isDescribed(schema) ? [] : [name]),
      ...within(schema, name),
    ]),
    ...Object.values(paths)
      .flatMap((methods) => Object.values(methods))
      .flatMap(({ operationId, parameters, requestBody, responses }) => [
        ...parameters
          .filter(({ in: place, description, schema }) => place !== 'header' && !description && !isDescribed(schema))
          .map(({ name }) => `${operationId} ${name}`),
        ...inContent(requestBody ?? {}, `${operationId} body`),
        ...Object.values(responses).flatMap((response) => inContent(response, `${operationId} answer`)),
      ]),
  ];
}

describe('an OpenAPI document', () => {
  it.each(routesByService)('of $name explains each type, member and parameter', ({ name }) => {
    expect(undescribed(JSON.parse(openApiText(name)) as Document)).toEqual([]); // an OpenAPI document
  });

  it('is rejected when a member has no description', () => {
    const document = JSON.parse(openApiText('gateway')) as Document; // an OpenAPI document
    const task = document.components.schemas['Task'];
    if (task === undefined) throw new Error('The gateway has no schema named Task. Choose another one for this test.');
    task.properties = { ...task.properties, colour: { properties: { hue: {} } } };
    expect(undescribed(document)).toEqual(['Task.colour', 'Task.colour.hue']);
  });
});
