export { METRICS, observeNode, type NodeMetrics, type ObservedNode } from './metrics.js';
export { serveMetrics, type MetricsServer, type MetricsServerOptions } from './server.js';
export { traceHandlers, traceSubmissions } from './tracing.js';
