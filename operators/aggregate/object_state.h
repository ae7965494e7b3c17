// Calls that keep one object in memory for each group, decoded: a bitmap or a sketch.
//
// A snapshot needs records: they are made before it, one a group that has changed since the last, and a record goes when
// its object changes.  An object says
//   Serialise(std::string&)   appends its bytes
//   ByteSize()                about what it takes in memory
//   static std::optional<Object> Parse(const Traits&, bytes)
#pragma once

#include "operators/aggregate/call_state.h"

namespace weir {

template <class Object>
class ObjectState : public CallState {
 public:
  ObjectState(Object empty, uint8_t part, KeyedState* state) : empty_(std::move(empty)), part_(part), state_(state) {}

  void BeginBatch() override {
    // The sizes of what the last batch has changed.
    for (const uint32_t name : touched_) Measure(held_[name - 1]);
    touched_.clear();
    ++batch_;
  }

  void Forget(const char* group) override {
    const uint32_t name = NameOf(group);
    if (name == 0) return;
    Held& held = held_[name - 1];
    DropRecord(held);
    bytes_ -= held.bytes;
    held.object.reset();
    held.bytes = 0;
    unused_.push_back(name);
  }

  Status MoveValues(char* to, char* from) override {
    if (Object* theirs = Find(from)) Merge(Change(to), *theirs);
    Forget(from);
    SetName(from, 0);
    return {};
  }

  void BeforeSnapshot() override {
    std::string payload;
    for (Held& held : held_) {
      if (!held.object || held.record != 0) continue;
      payload.assign(kIdAt, '\0');
      payload.append(reinterpret_cast<const char*>(&held.group_id), sizeof held.group_id);
      held.object->Serialise(payload);
      held.record = state_->Allocate(part_, payload.size());
      std::memcpy(state_->At(held.record)->payload(), payload.data(), payload.size());
    }
  }

  Status Restore(Restored& records) override {
    for (const auto& [group, payload] : records) {
      std::optional<Object> object = Object::Parse(empty_, payload.substr(kRestAt));
      if (!object) return StateError("the state file of an aggregate is damaged (object)");
      Held& held = Own(group);
      held.object = std::make_unique<Object>(std::move(*object));
      Measure(held);
    }
    return {};
  }

  int64_t bytes() const override { return bytes_; }

 protected:
  // Adds what `other` has taken; `other` goes.
  virtual void Merge(Object& object, Object& other) = 0;

  struct Held {
    std::unique_ptr<Object> object;
    uint64_t group_id = 0;
    Ref record = 0;  // what the last snapshot has of it; 0: it has changed since
    int64_t bytes = 0;
    uint64_t batch = 0;  // that touched it last
  };

  // The group's object, made on first use, to be changed.
  Object& Change(char* group) {
    Held& held = Own(group);
    if (held.record != 0) DropRecord(held);
    if (held.batch != batch_) {
      held.batch = batch_;
      touched_.push_back(NameOf(group));
    }
    return *held.object;
  }
  // Null without values so far.
  Object* Find(const char* group) {
    const uint32_t name = NameOf(group);
    return name == 0 ? nullptr : held_[name - 1].object.get();
  }

 private:
  Held& Own(char* group) {
    uint32_t name = NameOf(group);
    if (name != 0) return held_[name - 1];
    if (unused_.empty()) {
      held_.emplace_back();
      name = static_cast<uint32_t>(held_.size());
    } else {
      name = unused_.back();
      unused_.pop_back();
    }
    SetName(group, name);
    Held& held = held_[name - 1];
    held.object = std::make_unique<Object>(empty_);
    held.group_id = LoadAt<uint64_t>(IdOf(group).data());
    return held;
  }
  void DropRecord(Held& held) {
    if (held.record != 0) state_->Free(held.record);
    held.record = 0;
  }
  void Measure(Held& held) {
    if (!held.object) return;
    const auto now = static_cast<int64_t>(held.object->ByteSize() + sizeof(Held));
    bytes_ += now - held.bytes;
    held.bytes = now;
  }

  Object empty_;
  uint8_t part_;
  KeyedState* state_;
  std::vector<Held> held_;  // from 1 in groups' records
  std::vector<uint32_t> unused_;
  std::vector<uint32_t> touched_;
  uint64_t batch_ = 1;
  int64_t bytes_ = 0;
};

}  // namespace weir
