import { scimSchemas } from '@countersign/contracts/commercial-gateway';

/** Returns a page of resources (RFC 7644 §3.4.2). `startIndex` begins at 1. */
export function listResponse<Resource>(page: {
  readonly resources: readonly Resource[];
  readonly totalResults: number;
  readonly startIndex: number;
}) {
  const { resources, totalResults, startIndex } = page;
  return {
    schemas: [scimSchemas.listResponse],
    totalResults,
    startIndex,
    itemsPerPage: resources.length,
    Resources: [...resources],
  };
}
