  if (const char* dump = std::getenv("CLOCK_DUMP")) {  // TEMPORARY
    std::ofstream out(dump, std::ios::app);
    out << kernel.name << " " << shape.grid.x << " " << shape.grid.y << " " << shape.grid.z << " "
        << shape.block.x << " " << shape.block.y << " " << shape.block.z << " "
        << shape.registers_per_thread << " " << shape.shared_bytes << "\n";
    for (const auto& info : counters::all_counters())
      out << report.counters.totals.*(info.member) << " ";
    out << "\n" << report.counters.work.kinds.size() << " " << report.counters.work.runs.size() << "\n";
    for (const auto& k : report.counters.work.kinds)
      out << k.chain_clocks << " " << k.load_rounds << " " << k.shared_requests << " "
          << k.barriers_after_loads << " " << k.other_barriers << " " << k.issue_slots << " "
          << k.all_load_rounds << " " << k.all_shared_requests << " " << k.early_warps << "\n";
    for (const auto& r : report.counters.work.runs) out << r.kind << " " << r.blocks << "\n";
    out << report.counters.work.instructions.size();
    for (auto n : report.counters.work.instructions) out << " " << n;
    out << "\n";
  }
