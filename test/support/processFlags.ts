/*
 * Tests have a copy of Node's `process`, on which this property is computed at each use. The HTTP library reads it for
 * each request, and a tenth of the time of the tests went into that.
 */
Object.defineProperty(process, "allowedNodeEnvironmentFlags", { value: process.allowedNodeEnvironmentFlags });
